"""The second boot: disks in another order, one grown, one with another serial number, one there twice."""

from collections.abc import Iterator

import pytest
from scratch.inside import canaries
from scratch.inside.rig import SET, list_sets, prepare
from scratch.inside.watching import watched

SETS = {
    **{name: [device] for name, device in zip(("grown", "doubled", "swapped", "moved"), SET, strict=True)},
    "other": ["serial-OTHER"],
    **canaries.LISTED,
}


@pytest.fixture(scope="session", autouse=True)
def watch(request: pytest.FixtureRequest) -> Iterator[canaries.Watch]:
    prepare()
    list_sets(SETS)
    canaries.use()
    yield from watched(request.config)
