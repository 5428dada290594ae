"""Disks of all scenarios of one boot: the set, and canaries that are compared at the end."""

from collections.abc import Iterator

import pytest
from scratch.inside import canaries
from scratch.inside.rig import NAME_FILE, SET, adopt, list_sets, name_of, prepare, use_rule
from scratch.inside.watching import watched

SETS = {"bays": SET, "spare": ["serial-SPARE"], "twins": ["serial-TWIN"], **canaries.LISTED}


@pytest.fixture(scope="session", autouse=True)
def watch(request: pytest.FixtureRequest) -> Iterator[canaries.Watch]:
    prepare()
    use_rule()
    NAME_FILE.write_text(name_of(SET[-1]))
    list_sets(SETS)
    canaries.make()
    canaries.use()
    for device in SET:
        adopt(device)
    yield from watched(request.config)


@pytest.fixture
def sets() -> Iterator[dict[str, list[str]]]:
    """Yield the sets of scratch.toml, which a test may change and list; list the first ones again at the end."""
    yield {name: [*devices] for name, devices in SETS.items()}
    list_sets(SETS)
