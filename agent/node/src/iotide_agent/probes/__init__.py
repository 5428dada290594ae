"""Probes: what a file system says of itself."""
