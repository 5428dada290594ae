"""Fixtures of attacks on the server: those of the server's tests, and nodes at work."""

from collections.abc import Callable

import pytest
from backend.fixtures import *
from factories.site import Site


@pytest.fixture
def plant(make_site: Callable[..., Site]) -> Site:
    """Return a cluster of two nodes at work."""
    return make_site()
