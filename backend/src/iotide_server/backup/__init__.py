"""Backups of an installation, and databases restored from them."""
