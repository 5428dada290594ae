"""The root program as systemd starts it by the installed units, after root has adopted the set's disks."""

from collections.abc import Iterator

import pytest
from scratch.inside import canaries
from scratch.inside.rig import SET, adopt, list_sets, name_of, prepare
from scratch.inside.watching import watched

from iotide_agent.setup.scratch import allow_disks
from iotide_wire.setup.changes import Changes


@pytest.fixture(scope="session", autouse=True)
def watch(request: pytest.FixtureRequest) -> Iterator[canaries.Watch]:
    prepare()
    list_sets({"bays": SET, **canaries.LISTED})
    canaries.make()
    canaries.use()
    for device in SET:
        adopt(device)
    said: list[str] = []
    allow_disks([name_of(device) for device in SET], Changes(said.append, is_dry=False))
    yield from watched(request.config)
