"""Prints the line of each scenario, as tests/lab does."""

from lab.conftest import pytest_runtest_logreport

__all__ = ["pytest_runtest_logreport"]
