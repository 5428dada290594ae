"""Packages of agent and server with a Python of their own: docs/releasing.md."""
