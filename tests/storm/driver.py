"""Lets a storm go over a site, waits until everything has ended, and asks the checker."""

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
from storm.faults import FAULTS, LASTS_LONG, Storm, start_scheduler
from storm.network import CutNetwork, cut_network
from storm.site import StormSite

_AWAY: Final = (httpx2.HTTPError, StackError)
"""What a request meets while a part of the server is down."""

AGENT_DISK: Final = FileSystem("tmpfs", options=("mode=0700",), size_bytes=64 * 1024**2)
SERVER_DISK: Final = FileSystem("tmpfs", options=("mode=0755",), size_bytes=768 * 1024**2)
"""Where `server's disk full` is among the faults, for `running_stack`."""

_CLOCK_AHEAD: Final = Path(__file__).with_name("clock_ahead.c")
_PORTION: Final = 20
_MOST_OPEN: Final = 40
"""Runs that have not ended at once: the storm blows while they come, and ends soon after the last."""


@dataclass(frozen=True)
class Weather:
    """How hard a storm is.

    Attributes:
        runs: submitted in all at least; with `seconds`, as many as find room in that time.
        faults: names of `FAULTS`, each of which happens at least once.
        pause_seconds: between two faults, at least and at most.
        load_seconds: how long a load lasts, at least and at most.
        seconds: for how long it goes on at least.
        is_a_clock_ahead: of the second agent, by an hour.
        patience_seconds: how long everything may take to end when the last fault is over.
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
    """What a storm left.

    Attributes:
        struck: how often each fault happened.
        log: what the server knows of the runs of which something was found.
    """

    verdict: Verdict
    struck: Counter[str] = field(default_factory=Counter)
    log: Sequence[str] = ()


def weather_the_storm(
    stack: LocalStack, directory: Path, weather: Weather, seed: str, tell: Callable[[str], None] = lambda _: None
) -> Aftermath:
    """Let it pass over a new site; the same seed has the same runs, faults, victims and pauses."""
    with _site(stack, directory, weather) as (site, network):
        storm = Storm(site, network, start_scheduler(site))
        try:
            struck = _pass_over(storm, weather, seed, tell)
            _wait_all_ended(site, weather.patience_seconds, tell)
        finally:
            storm.second_scheduler.kill()
            storm.second_scheduler.wait()
        verdict = judge(site.results(), read_log(site.log.read_text().splitlines()))
        return Aftermath(verdict, struck, [line for run_id in verdict.runs_found for line in site.log_of(run_id)])


@contextmanager
def _site(stack: LocalStack, directory: Path, weather: Weather) -> Iterator[tuple[StormSite, CutNetwork | None]]:
    """The first agent is behind a network where that is to be cut; the second one's clock is ahead where it should."""
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
            site.agent_disk = until_the_end.enter_context(_disk_of_its_own(stack, site.agents[-1]))
        site.add_targets()
        yield site, network


@contextmanager
def _disk_of_its_own(stack: LocalStack, agent: Agent) -> Iterator[Path]:
    """Put the state of an agent on a small disk; it is started again there."""
    os.killpg(agent.process.pid, signal.SIGTERM)
    agent.process.wait()
    state = agent.directory / "state"
    former = state.rename(agent.directory / "former-state")
    with made_mount(AGENT_DISK, state):
        subprocess.run(["cp", "-a", f"{former}/.", state], check=True)  # with its pipes
        state.chmod(0o700)
        stack.restart_agent(agent)
        try:
            yield state
        finally:
            os.killpg(agent.process.pid, signal.SIGKILL)
            agent.process.wait()
            unmount(state)


def _clock_ahead(directory: Path) -> dict[str, str]:
    """The environment of a process whose time of day is an hour ahead."""
    library = directory / "clock_ahead.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, _CLOCK_AHEAD], check=True)
    return {"LD_PRELOAD": str(library), "IOTIDE_CLOCK_AHEAD_SECONDS": "3600"}


def _pass_over(storm: Storm, weather: Weather, seed: str, tell: Callable[[str], None]) -> Counter[str]:
    """Submit the runs bit by bit and strike meanwhile; faults that take long happen beside the others."""
    chance = random.Random(f"{seed} faults")  # noqa: S311 - no secret
    struck: Counter[str] = Counter()
    submitting = threading.Thread(target=_submit, args=(storm.site, weather, seed))
    submitting.start()
    beside: list[threading.Thread] = []
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
        beside = [thread for thread in beside if thread.is_alive()]
        # Its own luck for each, so that what one meets does not change what the next one does.
        own = random.Random(f"{seed} {name} {struck[name]}")  # noqa: S311 - no secret
        if all(other.name != name for other in beside):
            struck[name] += 1
            tell(f"{name}, {sum(struck.values())} faults so far")
            beside.append(threading.Thread(target=_strike, args=(storm, name, own), name=name))
            beside[-1].start()
    for thread in [*beside, submitting]:
        thread.join()
    return struck


def _strike(storm: Storm, name: str, chance: random.Random) -> None:
    with suppress(*_AWAY):  # the part that it asks is down by another fault
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


def _wait_all_ended(site: StormSite, seconds: float, tell: Callable[[str], None]) -> None:
    """Until no run is open, or the patience is over: what has not ended then is for the checker to tell."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with suppress(*_AWAY):
            open_runs = site.open_runs() or site.unended()
            if not open_runs:
                return
            tell(f"{len(open_runs)} runs have not ended")
        time.sleep(1)
