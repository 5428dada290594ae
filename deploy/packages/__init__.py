"""Packages of the agent for nodes without a suitable Python: docs/releasing.md."""
