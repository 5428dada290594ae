"""Prints reports of the dashboard as PDF, in a Chromium without network and without credentials."""
