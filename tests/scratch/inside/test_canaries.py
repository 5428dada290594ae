"""Disks in use by others: no adoption, no make, and not one byte written."""

import pytest
from scratch.inside import canaries
from scratch.inside.rig import adopt, performed

from iotide_agent.scratch.refusals import ScratchRefusedError

MAKE = {"order": 1, "fence": 1, "layout": {"kind": "single"}, "fs": {"type": "ext2"}}


@pytest.mark.parametrize("device", canaries.REASONS)
def test_an_adoption_is_refused_for_its_own_reason_and_writes_nothing(device: str, watch: canaries.Watch) -> None:
    with pytest.raises(ScratchRefusedError, match=canaries.REASONS[device]):
        adopt(device)
    assert watch.changed_bytes(reads=False) == 0


@pytest.mark.parametrize("name", canaries.LISTED)
def test_no_request_touches_a_listed_disk_without_a_mark(name: str, watch: canaries.Watch) -> None:
    for verb, words in (("make", MAKE), ("wipe", {"order": 1, "fence": 1}), ("recover", {})):
        record = performed(verb, name=name, **words)
        reasons = record["reason"] + str(record["answer"].get("reasons", ""))
        assert "not adopted: no mark" in reasons
    assert watch.changed_bytes(reads=False) == 0
