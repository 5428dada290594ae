"""Driver of a storm over a site: waits until everything has ended, then calls the checker."""

import os
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx2
from bring_up import StackError
from local_stack import Agent, LocalStack
from made_mounts import FileSystem, made_mount
from rig import unmount

from storm.checker import Verdict, judge, read_log
from storm.faults import FAULTS, LASTS_LONG, Storm, signal_all, start_scheduler
from storm.network import CutNetwork, cut_network
from storm.site import StormSite

_AWAY: Final = (httpx2.HTTPError, StackError)
"""Errors of a request while a part of the server is down."""

AGENT_DISK: Final = FileSystem("tmpfs", options=("mode=0700",), size_bytes=64 * 1024**2)
SERVER_DISK: Final = FileSystem("tmpfs", options=("mode=0755",), size_bytes=768 * 1024**2)
"""Set if `server's disk full` is among the faults, for `running_stack`."""

_CLOCK_AHEAD: Final = Path(__file__).with_name("clock_ahead.c")
_PORTION: Final = 20
_MOST_OPEN: Final = 40
"""Limit of open runs: the storm strikes while they are submitted, and ends soon after the last."""


@dataclass(frozen=True)
class Weather:
    """Intensity of a storm.

    Attributes:
        runs: minimum number of submitted runs; with `seconds`, as many as fit into that time.
        faults: names of `FAULTS`; each happens at least once.
        pause_seconds: between two faults, at least and at most.
        load_seconds: duration of a load, at least and at most.
        seconds: minimum duration.
        is_a_clock_ahead: of the second agent, by an hour.
        patience_seconds: maximum time until everything has ended after the last fault.
    """

    nodes: int
    shared_targets: int
    runs: int
    faults: Sequence[str]
    pause_seconds: tuple[float, float] = (1.0, 4.0)
    load_seconds: tuple[float, float] = (0.2, 1.2)
    seconds: float = 0.0
    is_a_clock_ahead: bool = True
    patience_seconds: float = 300.0


@dataclass
class Aftermath:
    """Result of a storm.

    Attributes:
        struck: how often each fault happened.
        log: the server's log of the runs with violations.
    """

    verdict: Verdict
    struck: Counter[str] = field(default_factory=Counter)
    log: Sequence[str] = ()


def weather_the_storm(
    stack: LocalStack, directory: Path, weather: Weather, seed: str, report: Callable[[str], None] = lambda _: None
) -> Aftermath:
    """Run a storm over a new site; the same seed gives the same runs, faults, victims and pauses."""
    with _site(stack, directory, weather) as (site, network):
        storm = Storm(site, network, start_scheduler(site))
        try:
            struck = _pass_over(storm, weather, seed, report)
            _wait_all_ended(site, weather.patience_seconds, report)
        finally:
            storm.second_scheduler.kill()
            storm.second_scheduler.wait()
        verdict = judge(site.results(), read_log(site.log.read_text().splitlines()))
        return Aftermath(verdict, struck, [line for run_id in verdict.runs_found for line in site.log_of(run_id)])


@contextmanager
def _site(stack: LocalStack, directory: Path, weather: Weather) -> Iterator[tuple[StormSite, CutNetwork | None]]:
    """Yield a site: the first agent is behind a network if that is to be cut; the second has its clock ahead if
    requested.
    """
    directory.mkdir()
    with ExitStack() as until_the_end:
        network = None
        if "network cut" in weather.faults:
            network = until_the_end.enter_context(cut_network([stack.port, stack.redis_port]))
        site = StormSite(stack, directory, weather.nodes, weather.shared_targets, weather.load_seconds)
        ahead = _clock_ahead(directory) if weather.is_a_clock_ahead else None
        for number in range(weather.nodes):
            within = network.within if network and number == 0 else ()
            site.add_agent(environment=ahead if number == 1 else None, within=within)
        if "agent's disk full" in weather.faults:
            site.agent_disk = until_the_end.enter_context(_disk_of_its_own(site, site.agents[-1]))
        site.add_targets()
        yield site, network


@contextmanager
def _disk_of_its_own(site: StormSite, agent: Agent) -> Iterator[Path]:
    """Put the state of an agent on a small disk and restart it there."""
    os.killpg(agent.process.pid, signal.SIGTERM)
    agent.process.wait()
    state = agent.directory / "state"
    former = state.rename(agent.directory / "former-state")
    with made_mount(AGENT_DISK, state):
        subprocess.run(["cp", "-a", f"{former}/.", state], check=True)  # with its pipes
        state.chmod(0o700)
        site.stack.restart_agent(agent)
        try:
            yield state
        finally:
            # Its runners too: without an agent, one that waits for its start signal keeps the disk for minutes.
            signal_all(site.processes_of(agent, with_loads=True), signal.SIGKILL)
            agent.process.wait()
            unmount(state)


def _clock_ahead(directory: Path) -> dict[str, str]:
    """Return the environment of a process whose time of day is an hour ahead."""
    library = directory / "clock_ahead.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, _CLOCK_AHEAD], check=True)
    return {"LD_PRELOAD": str(library), "IOTIDE_CLOCK_AHEAD_SECONDS": "3600"}


def _pass_over(storm: Storm, weather: Weather, seed: str, report: Callable[[str], None]) -> Counter[str]:
    """Submit the runs bit by bit and strike meanwhile; long faults run in parallel to the others."""
    chance = random.Random(f"{seed} faults")  # noqa: S311 - no secret
    struck: Counter[str] = Counter()
    submitting = threading.Thread(target=_submit, args=(storm.site, weather, seed))
    submitting.start()
    parallel: list[threading.Thread] = []
    end = time.monotonic() + weather.seconds
    left: list[str] = []
    rounds = 0
    while left or submitting.is_alive() or not struck or time.monotonic() < end:
        while not left:
            spared = LASTS_LONG if rounds % 3 else frozenset()
            left = [name for name in chance.sample(list(weather.faults), len(weather.faults)) if name not in spared]
            rounds += 1
        name = left.pop()
        time.sleep(chance.uniform(*weather.pause_seconds))
        parallel = [thread for thread in parallel if thread.is_alive()]
        # Each has its own random numbers, so that one fault does not change the next.
        own = random.Random(f"{seed} {name} {struck[name]}")  # noqa: S311 - no secret
        if all(other.name != name for other in parallel):
            struck[name] += 1
            report(f"{name}, {sum(struck.values())} faults so far")
            parallel.append(threading.Thread(target=_strike, args=(storm, name, own), name=name))
            parallel[-1].start()
    for thread in [*parallel, submitting]:
        thread.join()
    return struck


def _strike(storm: Storm, name: str, chance: random.Random) -> None:
    with suppress(*_AWAY):  # its part is down through another fault
        FAULTS[name](storm, chance)


def _submit(site: StormSite, weather: Weather, seed: str) -> None:
    chance = random.Random(f"{seed} runs")  # noqa: S311 - no secret
    end = time.monotonic() + weather.seconds
    submitted = 0
    while submitted < weather.runs or time.monotonic() < end:
        if len(site.open_runs()) >= _MOST_OPEN:
            time.sleep(0.5)
            continue
        portion = min(_PORTION, weather.runs - submitted) if submitted < weather.runs else _PORTION
        site.submit(chance, portion)
        submitted += portion


def _wait_all_ended(site: StormSite, seconds: float, report: Callable[[str], None]) -> None:
    """Wait until no run is open or the time is over; the checker reports runs that have not ended then."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with suppress(*_AWAY):
            open_runs = site.open_runs() or site.unended()
            if not open_runs:
                return
            report(f"{len(open_runs)} runs have not ended")
        time.sleep(1)
