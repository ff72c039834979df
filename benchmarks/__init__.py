"""Each benchmark is a script that prints ratios measured in one run."""
