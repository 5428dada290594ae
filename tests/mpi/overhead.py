"""Pairs of runs in turn: by iotide, and the same launcher line by hand with a remote shell into the hosts."""

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from mpi.checks import name_of
from mpi.hosts import INTERFACE
from mpi.mpi_site import TASKS, TRANSFER_BYTES, MpiSite
from mpi.scenes import run_whole
from mpi.tally import Tally, say

from iotide_agent.mpi.launchers import LauncherKind, PortRange, settings_of

LEAST_RATIO: Final = 0.95
"""Of the medians of both rates; on two busy CPUs, the median of 20 pairs varies by some percent."""
MOST_ADDED_SECONDS: Final = 1.0
_TRANSFERS: Final = 256
_SHELL: Final = """#!/bin/sh
host=$1
shift
case $host in
{hosts}
esac
exec nsenter --target "$init" --net --uts --ipc --mount --pid -- sh -c "$*"
"""


def overhead(site: MpiSite, tally: Tally, pairs: int) -> None:
    """Compare rates and durations of the write step; the first pair only warms up."""
    rates: dict[str, list[float]] = {"own": [], "hand": []}
    seconds: dict[str, list[float]] = {"own": [], "hand": []}
    for number in range(pairs + 1):
        run = run_whole(site, tally, transfers=_TRANSFERS)
        if run["state"] != "finished":
            return
        step = next(one for one in _head_steps(run) if one["name"] == "write")
        rate = next(
            sample["value"]
            for sample in run["samples"]
            if sample["metric"] == "throughput"
            and sample["labels"]["operation"] == "write"
            and "writer" not in sample["labels"]
        )
        hand_seconds, hand_rate = _by_hand(site, step["argv"], number)
        if number:
            rates["own"].append(rate)
            rates["hand"].append(hand_rate)
            seconds["own"].append(step["wall_seconds"])
            seconds["hand"].append(hand_seconds)
    ratio = median(rates["own"]) / median(rates["hand"])
    added = median(seconds["own"]) - median(seconds["hand"])
    name = name_of(site, run)
    say(f"{name}: {pairs} pairs, rate {ratio:.3f} of the rate by hand, {added:+.2f} s")
    tally.require(ratio >= LEAST_RATIO, f"{name}: the rate is {ratio:.3f} of the rate by hand")
    tally.require(added < MOST_ADDED_SECONDS, f"{name}: a step takes {added:.2f} s longer than by hand")


def _head_steps(run: dict[str, Any]) -> list[dict[str, Any]]:
    [steps] = [order["steps"] for order in run["attempts"][-1]["orders"] if order["step_role"] == "head"]
    return list(steps)


def _by_hand(site: MpiSite, argv: Sequence[str], number: int) -> tuple[float, float]:
    """Return seconds and rate of the recorded command, with our shell and directories of its own."""
    directory = site.base / f"hand-{number}"
    directory.mkdir()
    shell = site.base / "shell"
    lines = "\n".join(f"  {host.address} | {host.name}) init={host.within[2]} ;;" for host in site.hosts)
    shell.write_text(_SHELL.format(hosts=lines))
    shell.chmod(0o755)
    words = [str(site.mpi.directory / site.mpi.launcher), *argv[1:]]
    old_shell = next(word for word in words if word.endswith("/remote-start"))
    scratch, place = str(Path(old_shell).parent), str(Path(words[words.index("-o") + 1]).parent)
    words = [word.replace(old_shell, str(shell)).replace(scratch, str(directory)) for word in words]
    words = [word.replace(place, str(directory)) for word in words]
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "LC_ALL": "C",
        "TMPDIR": str(directory),
        **site.mpi.environment,
    }
    environment |= settings_of(LauncherKind(site.mpi.kind), INTERFACE, PortRange(46_000, 46_199))
    network = f"--net=/run/netns/iotide-mpi-{site.hosts[0].name}"
    began = time.monotonic()
    done = subprocess.run(
        ["nsenter", network, *words], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    seconds = time.monotonic() - began
    if done.returncode:
        raise RuntimeError(f"by hand: {done.returncode} {done.stdout[-500:]}{done.stderr[-500:]}")
    text = (directory / "ior-write.json").read_text()
    total_seconds = float(text.partition('"totalTime": ')[2].partition("}")[0])
    (directory / "ior").unlink()
    return seconds, TASKS * len(site.hosts) * _TRANSFERS * TRANSFER_BYTES / total_seconds
