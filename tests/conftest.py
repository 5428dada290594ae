"""Fixtures for the whole test suite."""

pytest_plugins = ["services"]
