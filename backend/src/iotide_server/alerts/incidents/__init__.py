"""Incidents: related changes as one object, with or without an alert rule."""
