"""Scenes of the walk: whole runs, misbehaving programs, a stranger at the launcher's port, kills and cuts."""

import json
import os
import random
import re
import signal
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from bring_up import StackError, wait_for
from mpi.checks import GONE_SECONDS, check_failed, check_gone, check_whole, name_of, seconds_to_barrier
from mpi.hosts import Host, Process
from mpi.mpi_site import TASKS, MpiSite
from mpi.tally import Tally, say

VICTIMS: Final = ("rank", "part", "launcher", "remote_start", "runner", "agent")
CUT_SECONDS: Final = 30.0
MOST_SECONDS_TO_BARRIER_64: Final = 15.0
_LOST_SECONDS: Final = 12.0
"""Five seconds of silence, and time to end."""
_VICTIM_SECONDS: Final = 20.0
_LAUNCHER_PORTS: Final = range(46_000, 46_020)
_GREETING: Final = b"HYD\0"
_GANG: Final = "GANG"


def run_whole(
    site: MpiSite, tally: Tally, *, nodes: int = 4, tasks: int = TASKS, transfers: int = 32
) -> dict[str, Any]:
    """Run one program to its end and check it; return the run."""
    since = site.log_bytes()
    run = site.wait_ended(site.submit_ior(nodes=nodes, tasks=tasks, transfers=transfers))
    tally.jobs += 1
    marks = site.marks(since)
    if check_whole(site, tally, run, marks, nodes=nodes, tasks=tasks, transfers=transfers):
        seconds = seconds_to_barrier(marks)
        if nodes * tasks == 2 * len(site.hosts):
            tally.seconds_to_barrier_8 = max(tally.seconds_to_barrier_8, seconds)
        say(f"{name_of(site, run)}: {nodes * tasks} ranks on {nodes} nodes, through the barrier after {seconds:.2f} s")
    return run


def many_ranks(site: MpiSite, tally: Tally) -> None:
    """64 ranks start in time."""
    since = site.log_bytes()
    run = run_whole(site, tally, tasks=16, transfers=4)
    if run["state"] == "finished":
        seconds = seconds_to_barrier(site.marks(since))
        in_time = seconds <= MOST_SECONDS_TO_BARRIER_64
        tally.require(in_time, f"{name_of(site, run)}: 64 ranks needed {seconds:.1f} s to their first barrier")


def misbehaving(site: MpiSite, tally: Tally) -> None:
    """Programs that end without MPI_Finalize, stop, hang after their results, or leave a child with their stdout."""
    for behaviour, rank, limit_seconds in (("exit", 3, 60.0), ("stop", 3, 12.0)):
        site.misbehave(behaviour, rank=rank)
        run = site.wait_ended(site.submit_ior(time_limit_seconds=limit_seconds))
        site.behave()
        check_failed(site, tally, run, behaviour)
    for behaviour, rank in (("hang", 0), ("child", 3)):
        since = site.log_bytes()
        site.misbehave(behaviour, rank=rank)
        run = site.wait_ended(site.submit_ior(time_limit_seconds=90.0))
        site.behave()
        check_whole(site, tally, run, site.marks(since))
        is_marked = _GANG in _flags(run)
        tally.require(is_marked or behaviour == "child", f"{name_of(site, run)}: a hung launcher is not flagged")
        tally.ends[f"{behaviour}: {run['state']}{', flagged GANG' if is_marked else ''}"] += 1
    run_whole(site, tally)


def _flags(run: dict[str, Any]) -> set[str]:
    return {flag["code"] for flag in run["flags"]}


class Stranger:
    """Connects from outside to the launcher's ports, sends words, and keeps all that it gets."""

    def __init__(self, address: str, words: bytes) -> None:
        self.got = b""
        self.connected = 0
        self._address, self._words = address, words
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ends.set()
        self._thread.join(10)

    def _live(self) -> None:
        while not self._ends.is_set():
            for port in _LAUNCHER_PORTS:
                with suppress(OSError), socket.create_connection((self._address, port), 0.2) as connection:
                    self.connected += 1
                    connection.sendall(self._words)
                    connection.settimeout(1.0)
                    while more := connection.recv(65_536):
                        self.got += more
            time.sleep(0.002)


def strangers(site: MpiSite, tally: Tally) -> None:
    """A port scan, and for MPICH the greeting of a proxy, before and during a run: no secret, no half result."""
    greetings = {f"proxy {number}": _GREETING + struct.pack("<ii", 0, number) for number in (0, 1)}
    for what, words in {"scan": b"GET / HT", **greetings}.items():
        for moment in ("first", "later"):
            since = site.log_bytes()
            site.misbehave("slow", milliseconds=40)
            stranger = Stranger(site.hosts[0].address, words) if moment == "first" else None
            run_id = site.submit_ior(transfers=64)
            if stranger is None:
                _wait_loads(site, run_id)
                time.sleep(1.0)
                stranger = Stranger(site.hosts[0].address, words)
            run = site.wait_ended(run_id)
            site.behave()
            stranger.end()
            because = f"stranger with {what}, {moment}"
            tally.require(stranger.connected > 0, f"{name_of(site, run)}, {because}: it met no launcher")
            found = [secret for secret in secrets_of(site) if secret.encode() in stranger.got]
            tally.require(not found, f"{name_of(site, run)}, {because}: it got {len(found)} secrets")
            say(f"{name_of(site, run)}, {because}: {run['state']}, {run['reason']}; it got {len(stranger.got)} bytes")
            if run["state"] == "finished":
                check_whole(site, tally, run, site.marks(since), transfers=64)
                tally.ends[f"{because}: finished"] += 1
                continue
            check_failed(site, tally, run, because, transfers=64)
            since = site.log_bytes()
            site.retry(run_id)
            check_whole(site, tally, site.wait_ended(run_id), site.marks(since), transfers=64)


def secrets_of(site: MpiSite) -> list[str]:
    """Return the tokens of the agents, of their broker and of start channels."""
    found = {site.stack.token}
    for agent in site.agents.values():
        for file in (agent.directory / "state").rglob("*.json"):
            with suppress(OSError):
                found |= set(re.findall(r'"(?:node_token|token|password)":\s*"([^"]{16,})"', file.read_text()))
        identity = json.loads((agent.directory / "state/identity.json").read_text())
        found.add(identity["node_token"])
    return sorted(found)


def _wait_loads(site: MpiSite, run_id: int) -> list[tuple[Host, Process]]:
    return wait_for("the program", lambda: site.loads(run_id) or None, seconds=60, pause_seconds=0.05)


def killed(site: MpiSite, tally: Tally, victim: str, chance: random.Random) -> None:
    """Kill one process of a run at a random moment; nothing of it is alive after three seconds."""
    since = site.log_bytes()
    site.misbehave("slow", milliseconds=30)
    run_id = site.submit_ior(transfers=64)
    attempt = _wait_loads(site, run_id)[0][1].attempt
    time.sleep(chance.uniform(0.0, 4.0))
    found = _victims(site, run_id, victim)
    if found:
        host, process = chance.choice(found)
        for one in [process] if victim != "agent" else site.of_agent(host, runners=False):
            with suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
        tally.kills += 1
    if victim == "agent" and found:
        site.restart_agent(host)
        left = []
    else:
        left = site.wait_gone(run_id, attempt, seconds=GONE_SECONDS) if found else []
    run = site.wait_ended(run_id)
    site.behave()
    if run["state"] == "finished":
        # The process had done its work, or it was an agent: its runner continues.
        check_whole(site, tally, run, site.marks(since), transfers=64)
        tally.ends[f"{victim}: finished in attempt {run['attempts_made']}"] += 1
        return
    tally.orphans += len(left)
    shown = ", ".join(f"{process.name} on {host.name}" for host, process in left)
    tally.require(not left, f"{name_of(site, run)}, {victim} killed: alive after {GONE_SECONDS:g} s: {shown}")
    check_failed(site, tally, run, victim, transfers=64)


def _victims(site: MpiSite, run_id: int, victim: str) -> list[tuple[Host, Process]]:
    """Return the processes of that kind, as soon as there are any."""

    def found() -> list[tuple[Host, Process]] | None:
        chosen = [*_of_kind(site, run_id, victim)]
        return chosen or (None if site.loads(run_id) else [])

    with suppress(StackError):
        return wait_for(f"a {victim}", found, seconds=_VICTIM_SECONDS, pause_seconds=0.01)
    return []


def _of_kind(site: MpiSite, run_id: int, victim: str) -> Iterator[tuple[Host, Process]]:
    if victim in {"runner", "agent"}:
        for host in site.hosts:
            for process in site.of_agent(host, runners=victim == "runner"):
                yield host, process
        return
    names = {
        "rank": {"ior"},
        "part": {site.mpi.part},
        "launcher": site.mpi.launcher_names,
        "remote_start": {"remote-start"},
    }[victim]
    for host, process in site.loads(run_id):
        if process.name in names:
            yield host, process


def cut(site: MpiSite, tally: Tally, host: Host, chance: random.Random) -> None:
    """Cut a host off for half a minute in the middle of a run: it kills without a word from outside."""
    since = site.log_bytes()
    site.misbehave("slow", milliseconds=250)
    run_id = site.submit_ior(transfers=240, time_limit_seconds=240.0)
    attempt = _wait_loads(site, run_id)[0][1].attempt
    time.sleep(2.0 + chance.uniform(0.0, 5.0))
    site.behave()
    host.cut()
    try:
        began = time.monotonic()
        left = site.wait_gone(run_id, attempt, seconds=_LOST_SECONDS)
        tally.cuts += 1
        tally.orphans += len(left)
        shown = ", ".join(f"{process.name} on {where.name}" for where, process in left)
        tally.require(not left, f"{site.cluster}, run {run_id}, {host.name} cut off: alive after the silence: {shown}")
        time.sleep(max(0.0, CUT_SECONDS - (time.monotonic() - began)))
    finally:
        host.repair()
    run = site.wait_ended(run_id)
    if run["state"] == "finished" and run["attempts_made"] > 1:
        check_whole(site, tally, run, site.marks(since), transfers=240)
        tally.ends[f"cut: finished in attempt {run['attempts_made']}"] += 1
    elif run["state"] == "finished":
        tally.require(_GANG in _flags(run), f"{name_of(site, run)}, {host.name} cut off: finished without a flag")
        check_gone(site, tally, run)
        tally.ends["cut: flagged GANG"] += 1
    else:
        check_failed(site, tally, run, "cut", transfers=240)
    site.wait_online()


def iozone(site: MpiSite, tally: Tally) -> None:
    """IOzone starts its own processes over two nodes."""
    run = site.wait_ended(site.submit_iozone(file_bytes=4 * 1024**2, processes=2))
    tally.jobs += 1
    name = name_of(site, run)
    tally.require(run["state"] == "finished", f"{name}, iozone: {run['state']}, {run['reason']}")
    writers = {sample["labels"].get("writer") for sample in run["samples"]} - {None}
    hosts = {host.name for host in site.hosts[:2]}
    tally.require(writers == hosts, f"{name}, iozone: results of {sorted(map(str, writers))}")
    check_gone(site, tally, run)
