"""Alerts of level changes and stale series."""
