"""Cleanup after a killed runner: end its load, remove its files and write its exit record."""

import fcntl
import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from iotide_agent.runner import processes
from iotide_agent.runner.card import ATTEMPT, Card, read_card
from iotide_agent.runner.doorbell import ring
from iotide_agent.runner.files import replace_file
from iotide_agent.runner.hand import HandFailedError, HandHungError, HandLimits, Hands
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.places import Places
from iotide_agent.runner.record import (
    Ending,
    Measured,
    Settled,
    as_unkilled,
    await_room,
    exit_record,
    read_phase,
    unkilled,
    write_exit,
)

_NAP_SECONDS: Final = 0.02
_REMOVE_SECONDS: Final = 600.0


def lock_order(directory: Path) -> int:
    descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    return descriptor


def is_order_alive(directory: Path) -> bool:
    try:
        os.close(lock_order(directory))
    except BlockingIOError:
        return True
    return False


def clean_up_after(directory: Path, locks: tuple[int, ...] = ()) -> None:
    """Kill the order's processes, remove its directories and write `exit.json`; `locks` are the node's."""
    processes.become_subreaper()
    card = read_card(directory)
    phase = read_phase(directory)
    same_boot = phase.get("boot_id") == processes.boot_id()
    ending = _why(phase, same_boot=same_boot)
    if same_boot and not _kill(directory, phase, card.patience_seconds):
        names = "; ".join(str(found) for found in processes.stuck(_living(directory, phase)))
        ending = Ending("failed", "stuck", f"{ending.reason}; cannot be killed, still holding the node: {names}")
    if phase.get("is_torn"):
        made_on = [target.target_id for target in card.targets]
    else:
        made_on = [place["target_id"] for place in phase.get("places", [])]
    places = Places(card, made_on)
    others_may_write = card.gang is not None and "intent" in phase
    settled = (
        Settled([], Places(card).possible())
        if ending.code == "stuck"
        else _remove(card, places, locks, others_may_write=others_may_write)
    )
    record = exit_record(phase, ending, settled, Measured(phase.get("steps", [])))

    def write() -> bool:
        if ending.code == "stuck":
            note_unkilled(directory, phase)
        write_exit(directory, record)
        return True

    await_room(write)
    ring(Path(card.agent_bell))


def note_unkilled(directory: Path, phase: dict[str, Any]) -> None:
    if phase.get("boot_id") == processes.boot_id():
        noted = phase | {"unkilled": as_unkilled(_living(directory, phase))}
        replace_file(directory / "phase.json", json.dumps(noted), durable=True)


def _why(phase: dict[str, Any], *, same_boot: bool) -> Ending:
    if phase and not same_boot:
        return Ending("failed", "lost_by_reboot", "the node was rebooted during the run")
    if phase.get("intent") and not phase.get("loads") and not phase.get("steps"):
        reason = "the runner died while it started the benchmark; it is unknown if the benchmark ran"
        return Ending("failed", "start_unknown", reason)
    return Ending("failed", "runner_died", "the runner was killed; the agent ended its benchmark")


def _kill(directory: Path, phase: dict[str, Any], patience_seconds: float) -> bool:
    until = time.monotonic() + patience_seconds
    while time.monotonic() < until:
        living = _living(directory, phase)
        if not living and not is_order_alive(directory):
            return True
        processes.send(signal.SIGKILL, [stat.pid for stat in living])
        time.sleep(_NAP_SECONDS)
    return False


def _living(directory: Path, phase: dict[str, Any]) -> list[processes.Stat]:
    """Return the order's processes: by its lock, which a child may have closed, by session, and by its attempt."""
    holders = [stat for stat in map(processes.stat_of, processes.holders(directory / "lock")) if stat is not None]
    of_loads = processes.of_sessions({load["pid"]: load["start_ticks"] for load in phase.get("loads", [])})
    of_attempt = _of_attempt(read_card(directory))
    return list({stat.pid: stat for stat in (*holders, *of_loads, *of_attempt, *unkilled(directory))}.values())


def _of_attempt(card: Card) -> list[processes.Stat]:
    if not card.attempt:
        return []
    return processes.with_variable(f"{ATTEMPT}={card.attempt}", {os.getuid(), *card.run_as[:1]})


def _remove(card: Card, places: Places, locks: tuple[int, ...], *, others_may_write: bool) -> Settled:
    limits = HandLimits(_REMOVE_SECONDS, 3 * card.patience_seconds)
    try:
        return places.settle(Hands(Loop(), locks), limits, others_may_write=others_may_write)
    except (HandHungError, HandFailedError) as error:
        with suppress(OSError):  # if the disk with the log is full
            sys.stderr.write(f"remove_failed order_id={card.order_id} error={error}\n")
        return Settled([], places.possible())
