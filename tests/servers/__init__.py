"""Servers on loopback that speak the wire of the real ones."""
