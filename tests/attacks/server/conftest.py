"""Attacks have the fixtures of the server's tests, and nodes at work."""

from collections.abc import Callable

import pytest
from backend.fixtures import *
from factories.site import Site


@pytest.fixture
def plant(make_site: Callable[..., Site]) -> Site:
    """Two nodes."""
    return make_site()
