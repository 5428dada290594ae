"""Ingest of results."""
