"""A whole iotide with something to look at: finished, failed and rejected runs of every workload."""

from collections.abc import Iterator

import pytest
from rig import FIO_SMALL, Rig, add_rig, running_stack


@pytest.fixture(scope="session")
def rig() -> Iterator[Rig]:
    with running_stack() as stack:
        rig = add_rig(stack, "e2e")
        fio = {**FIO_SMALL, "rw": "write", "runtime_seconds": 2}
        seen = [
            rig.submit("fio", fio, name="too-long", time_limit_seconds=1),
            rig.submit(
                "dd",
                {"block_size_bytes": "64 KiB"},
                name="every-workload",
                repeats=2,
                note="What this disk does, before the new firmware.",
                workloads=[
                    {"workload": "dd", "sweep": {"file_size_bytes": ["1 MiB", "4 MiB"], "flush": ["fsync", "none"]}},
                    {"workload": "create", "options": {"file_count": 200}},
                    {"workload": "fio", "options": fio},
                ],
            ),
        ]
        assert [stack.wait_campaign(campaign_id)["state"] for campaign_id in seen] == ["failed", "finished"]
        yield rig
