"""Trends of series."""
