"""Marks what kills and restores whole databases, so that `./dev test-keeping` alone runs it."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.keeping)
