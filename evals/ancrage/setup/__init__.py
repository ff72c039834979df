"""A first project: what its files hold, the configuration that reads them, and what is missing."""
