"""Changes that others make to disks of a set: each is refused with its own reason, and left as it is."""

from contextlib import closing
from typing import Any, Final

import pytest
from scratch.inside.rig import (
    MACHINE_ID,
    SET,
    SITE,
    THIS_MACHINE,
    adopt,
    arena_of,
    done,
    leftovers,
    list_sets,
    mounts,
    new_order,
    path_of,
    performed,
    run,
    state_of,
)

from iotide_agent.scratch.disk import Disk
from iotide_agent.scratch.listing import unlisted
from iotide_agent.scratch.mark import MIB, mark_start_bytes
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.sets import read_config

SPARE: Final = "serial-SPARE"
LAST: Final = SET[-1]
ALL_FOUR: Final[dict[str, Any]] = {
    "layout": {"kind": "md", "disks": 4, "level": "raid0", "chunk_bytes": 65536},
    "fs": {"type": "ext4"},
}
SINGLE: Final[dict[str, Any]] = {"layout": {"kind": "single"}, "fs": {"type": "ext4"}}


def test_a_clone_of_an_adopted_disk_is_refused() -> None:
    with closing(Disk(SITE.sysfs, LAST)) as disk:
        mark = mark_start_bytes(disk.identity.size_bytes)
    edges = ((0, 1), (mark // MIB, 2))
    for start_mib, count in edges:
        place = (f"skip={start_mib}", f"seek={start_mib}", f"count={count}", "bs=1M", "conv=fsync")
        run("dd", f"if={path_of(LAST)}", f"of={path_of(SPARE)}", *place)
    run("blockdev", "--rereadpt", path_of(SPARE))
    run("udevadm", "settle")
    assert "the mark is of another disk" in refused("make", name="spare", **SINGLE)
    assert "the mark is of another disk" in performed("recover", name="spare")["answer"]["reasons"][0]
    with pytest.raises(ScratchRefusedError, match="it has partitions"):
        adopt(SPARE)
    for start_mib, count in edges:
        run("dd", "if=/dev/zero", f"of={path_of(SPARE)}", f"seek={start_mib}", f"count={count}", "bs=1M", "conv=fsync")
    run("blockdev", "--rereadpt", path_of(SPARE))


def test_two_disks_with_one_serial_number_are_refused() -> None:
    with pytest.raises(ScratchRefusedError, match="2 disks have this identity"):
        adopt("serial-TWIN")
    assert "2 disks have this identity" in refused("make", name="twins", **SINGLE)


def test_a_file_system_that_others_made_on_a_clean_arena_is_left_whole() -> None:
    arena = f"/dev/{arena_of(LAST)}"
    run("mkfs.ext4", "-q", arena)
    assert "clean by its mark, but it holds ext4" in refused("make", **ALL_FOUR)
    (reason,) = done("recover")["reasons"]
    assert "left alone" in reason
    assert "it holds ext4" in reason
    run("fsck.ext4", "-f", "-n", arena)
    run("wipefs", "--all", arena)


def test_a_made_disk_that_the_list_lost_is_left_alone_and_named(sets: dict[str, list[str]]) -> None:
    order = new_order()
    done("make", **order, **SINGLE)
    done("mount", **order, options={})
    sets["bays"] = [*SET[1:]]
    list_sets(sets)
    assert done("recover")["wiped"] == []
    assert [(row["device"], row["state"]) for row in unlisted(SITE, read_config())] == [(SET[0], "made")]
    assert len(mounts()) == 1
    list_sets({**sets, "bays": SET})
    assert done("recover")["wiped"] == [SET[0]]
    assert leftovers() == []


def test_an_array_with_an_unlisted_member_stays_whole(sets: dict[str, list[str]]) -> None:
    done("make", **new_order(), **ALL_FOUR)
    sets["bays"] = [*SET[:-1]]
    list_sets(sets)
    record = performed("recover")
    assert record["outcome"] == "dirty"
    assert f"is also on {arena_of(LAST)}, which is not to be wiped here" in record["reason"]
    assert SITE.sysfs.text("md900", "md/array_state") in {"clean", "active"}
    list_sets({**sets, "bays": SET})
    done("recover")
    assert leftovers() == []


def test_a_destroyed_mark_is_refused_until_the_disk_is_empty_and_adopted_again() -> None:
    with closing(Disk(SITE.sysfs, LAST)) as disk:
        mark = mark_start_bytes(disk.identity.size_bytes) // MIB
    zero = ("dd", "if=/dev/zero", f"of={path_of(LAST)}", "bs=1M", "conv=fsync")
    run(*zero, f"seek={mark}", "count=1")
    assert "not adopted: no mark" in refused("make", **ALL_FOUR)
    with pytest.raises(ScratchRefusedError, match="it has partitions"):
        adopt(LAST)
    run(*zero, "count=1")
    run(*zero, f"seek={mark}", "count=2")
    run("blockdev", "--rereadpt", path_of(LAST))
    run("udevadm", "settle")
    adopt(LAST)
    assert state_of(LAST) == "clean"


def test_a_node_with_another_machine_id_takes_a_disk_over_by_hand_only() -> None:
    MACHINE_ID.write_text("f" * 32 + "\n")
    assert "adopted on another installation" in refused("make", **ALL_FOUR)
    adopt(LAST, is_same=True)
    MACHINE_ID.write_text(f"{THIS_MACHINE}\n")
    assert "adopted on another installation" in refused("make", **ALL_FOUR)
    adopt(LAST, is_same=True)
    done("make", **new_order(), **ALL_FOUR)
    done("recover")
    assert leftovers() == []


def refused(verb: str, **words: Any) -> str:  # noqa: ANN401 - any JSON
    """Return why a request was refused; it must not have begun."""
    record = performed(verb, **new_order(), **words)
    assert record["outcome"] == "refused"
    assert not [command for command in record["commands"] if command["argv"][0].startswith(("mkfs", "mdadm"))]
    reason: str = record["reason"]
    return reason
