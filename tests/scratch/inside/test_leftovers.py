"""Devices that only a kill at one moment leaves, made by hand, and the agent's own path to the program."""

from contextlib import closing
from typing import Any, Final

import pytest
from scratch.inside.as_agent import as_agent
from scratch.inside.program import SOCKET, Program
from scratch.inside.rig import SET, SITE, arena_of, done, leftovers, mounts, new_order, run, state_of

from iotide_agent.scratch.disk import Disk
from iotide_agent.scratch.mapper import NUMBERS, named
from iotide_agent.scratch.site import OWNER

MAKE: Final[dict[str, Any]] = {"layout": {"kind": "offset", "start": "63s"}, "fs": {"type": "ext4"}}


@pytest.mark.parametrize("form", ["iotide-{}", "iotide_{}-scratch"], ids=["dmsetup", "lvcreate"])
@pytest.mark.parametrize("is_loaded", [False, True], ids=["created", "loaded"])
def test_a_mapped_device_without_a_live_table_is_removed_by_the_next_recovery(form: str, *, is_loaded: bool) -> None:
    done("make", **new_order(), layout={"kind": "single"}, fs={"type": "ext4"})
    with closing(Disk(SITE.sysfs, SET[0], locks=False)) as disk:
        name = form.format(disk.any_adoption().id[:8])
    run("dmsetup", "version")
    run("dmsetup", "create", name, "--notable", *named(NUMBERS[0]))
    if is_loaded:
        run("dmsetup", "load", name, "--table", f"0 8 linear /dev/{arena_of(SET[0])} 0")
    done("recover")
    assert str(NUMBERS[0]) not in run("dmsetup", "info", "--columns", "--noheadings", "-o", "minor").split()
    assert leftovers() == []


def test_a_device_of_another_set_without_a_table_keeps_no_number_from_a_make() -> None:
    run("dmsetup", "create", "iotide-elsewhere", "--notable", *named(NUMBERS[0]))
    order = new_order()
    done("make", **order, **MAKE)
    done("wipe", **order)
    assert leftovers() == []


def test_the_agents_load_program_makes_mounts_and_wipes_through_the_socket() -> None:
    program = Program()
    try:
        SOCKET.chmod(0o666)
        head = {"set": "bays", **new_order()}
        made = as_agent(
            SOCKET, {"verb": "make", **head, **MAKE}, {"verb": "mount", **head, "options": {"noatime": True}}
        )
        assert [record["outcome"] for record in made] == ["done", "done"]
        assert len(mounts()) == 1
        run("runuser", "-u", OWNER, "--", "touch", f"{made[1]['answer']['mount']}/file")
        assert as_agent(SOCKET, {"verb": "wipe", **head})[0]["outcome"] == "done"
    finally:
        program.close()
    assert state_of("serial-SCRATCH0") == "clean"
    assert leftovers() == []
