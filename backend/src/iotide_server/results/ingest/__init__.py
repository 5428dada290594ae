"""Ingest: results are checked, stored and grouped into series."""
