"""Audit log of all changes, with pages and exports."""
