"""A real server, a real agent, a real Redis and Celery worker, started once for all contract tests."""

from collections.abc import Iterator

import pytest
from local_stack import LocalStack
from rig import WARM, Rig, add_rig, running_stack

LONGEST = (
    "test_regression.py",
    "test_stream_nodes.py",
    "test_operations.py",
    "test_control.py",
    "test_wire.py",
    "test_cancel.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, so that they do not run alone at the end."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


@pytest.fixture(scope="session")
def stack() -> Iterator[LocalStack]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IOTIDE_NOTIFY_LOOPBACK", "true")  # receivers of messages are on this machine
        with running_stack(agents_share=WARM) as stack:
            yield stack


@pytest.fixture(scope="session")
def rig(stack: LocalStack) -> Rig:
    return add_rig(stack, "contract")
