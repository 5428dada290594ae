"""Probes read the facts of one kind of file system, or of the node."""
