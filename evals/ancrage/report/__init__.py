"""What a run found, for people: on the terminal and as one HTML file."""
