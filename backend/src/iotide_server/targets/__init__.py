"""Targets: file systems under test, and the storage that backs them."""
