"""Targets: the file systems under test, and the storage that they stand on."""
