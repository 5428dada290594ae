"""Fixtures for the whole test suite."""

import signal

pytest_plugins = ["services"]


def pytest_configure() -> None:
    """Takes SIGINT back where a shell in the background had the tests, and so their loads, ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
