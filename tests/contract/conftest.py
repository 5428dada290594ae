"""A real server, a real agent, a real Redis and Celery worker, brought up once for all contract tests."""

from collections.abc import Iterator

import pytest
from local_stack import LocalStack
from rig import Rig, add_rig, running_stack


@pytest.fixture(scope="session")
def stack() -> Iterator[LocalStack]:
    with running_stack() as stack:
        yield stack


@pytest.fixture(scope="session")
def rig(stack: LocalStack) -> Rig:
    return add_rig(stack, "contract")
