"""Whole iotide on loopback, for the proxies in front of it."""

from collections.abc import Iterator

import pytest
from local_stack import LocalStack
from rig import running_stack


@pytest.fixture(scope="session")
def stack() -> Iterator[LocalStack]:
    with running_stack() as stack:
        yield stack
