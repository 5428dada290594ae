"""Whole iotide with content: sample data of a year; finished, failed and rejected runs; a plug-in."""

import os
import subprocess
from collections.abc import Iterator
from typing import Final

import pytest
from bring_up import wait_for
from factories.plug_ins import install_template
from levelled_site import LevelledSite, found_site
from local_stack import BIN, LocalStack
from rig import FIO_SMALL, WARM, Rig, add_rig, running_stack

DAYS: Final = ["--days", "730" if "IOTIDE_PICTURES" in os.environ else "365"]
"""Two years on pictures for the docs. One takes half of the CPU time, and its change has three digits, too."""


def loading(stack: LocalStack, *command: str) -> "subprocess.Popen[bytes]":
    """Start a command that loads data not measured here."""
    argv = [str(BIN / "iotide-server"), *command, "--state", str(stack.directory / "server")]
    return subprocess.Popen(argv)


@pytest.fixture(scope="session")
def rig() -> Iterator[Rig]:
    with running_stack(agents_share=WARM) as stack:
        # A remount that slowed down reads, and one of three equal RAID sets that is slower than the others.
        sites = ["--cluster", "demo-studio", "--cluster", "demo-archive", "--workload", "dd", "--workload", "iozone"]
        loads = [
            loading(stack, "load-published"),
            loading(stack, "load-demo-history", *sites, "--seed", "1", *DAYS),
        ]
        plug_ins = install_template(stack.directory / "plug-ins")
        rig = add_rig(stack, "e2e", spare=stack.directory / "targets" / "spare", environment=plug_ins)
        # Before our first campaign, so that ours are the newest.
        assert [load.wait() for load in loads] == [0, 0]
        fio = {**FIO_SMALL, "rw": "write", "runtime_seconds": 2}
        staged = rig.submit(
            "dd",
            {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"},
            name="journals",
            repeats=2,
            cache="none",
            cool_down_seconds=0.5,
            stages=[
                {"variant": "ext4 data=ordered"},
                {"variant": "ext4 data=journal", "pause": "Mount scratch with data=journal."},
            ],
        )
        sizes = {
            "mode": "auto",
            "min_file_size_bytes": "4 MiB",
            "file_size_bytes": "16 MiB",
            "tests": ["write", "read"],
        }
        records = {"min_record_size_bytes": "64 KiB", "max_record_size_bytes": "512 KiB"}
        seen = [
            rig.submit("iozone", {**sizes, **records}, name="surface-before"),
            rig.submit("iozone", {**sizes, **records}, name="surface-after"),
            rig.submit("fio", fio, name="too-long", time_limit_seconds=1),
            rig.submit(
                "dd",
                {"block_size_bytes": "64 KiB"},
                name="every-workload",
                repeats=2,
                note="Performance of this disk before the new firmware.",
                workloads=[
                    {"workload": "dd", "sweep": {"file_size_bytes": ["1 MiB", "4 MiB"], "flush": ["fsync", "none"]}},
                    {"workload": "create", "options": {"file_count": 200}},
                    {"workload": "fio", "options": fio},
                ],
            ),
        ]
        states = [stack.wait_campaign(campaign_id)["state"] for campaign_id in seen]
        assert states == ["finished", "finished", "failed", "finished"]
        wait_for("the pause", lambda: stack.get(f"/campaigns/{staged}")["state"] == "paused" or None, seconds=60)
        yield rig


@pytest.fixture(scope="session")
def levelled(rig: Rig) -> LevelledSite:
    """Steady generated runs, on which a walk can cause a regression."""
    return found_site(rig.stack, "levelled")
