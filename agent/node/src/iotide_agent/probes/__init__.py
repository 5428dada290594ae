"""Probes: one file each, which reads the facts of a kind of file system or of the node."""
