"""Adopted disks that changed while the machine was off."""

from typing import Any, Final

import pytest
from scratch.inside.rig import NAME_FILE, SET, adopt, done, leftovers, name_of, performed

from iotide_agent.scratch.refusals import ScratchRefusedError

MAKE: Final[dict[str, Any]] = {
    "order": 1000,
    "fence": 1,
    "layout": {"kind": "single"},
    "fs": {"type": "ext4"},
}
REASONS: Final = {
    "grown": "not adopted: no mark",
    "doubled": "2 disks have this identity",
    "swapped": "no disk of this node has this identity",
    "other": "the mark is of another disk",
}


@pytest.mark.parametrize("name", REASONS)
def test_a_changed_disk_is_refused(name: str) -> None:
    record = performed("make", name=name, **MAKE)
    assert record["outcome"] == "refused"
    assert REASONS[name] in record["reason"]
    assert REASONS[name] in performed("recover", name=name)["answer"]["reasons"][0]


@pytest.mark.parametrize("device", [SET[0], SET[1], "serial-OTHER"])
def test_a_changed_disk_is_not_adopted_over_its_partitions(device: str) -> None:
    with pytest.raises(ScratchRefusedError, match=r"it has partitions|2 disks"):
        adopt(device)


def test_a_disk_with_another_name_is_used_as_before() -> None:
    moved = SET[3]
    assert name_of(moved) != NAME_FILE.read_text()
    done("make", name="moved", **MAKE)
    done("mount", name="moved", order=MAKE["order"], fence=MAKE["fence"], options={})
    done("recover", name="moved")
    assert leftovers([moved]) == []
