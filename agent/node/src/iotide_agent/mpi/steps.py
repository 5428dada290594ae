"""One step of a gang on a member: from the end of its own preparation to the head's word that the step ended."""

from collections.abc import Callable, Sequence
from typing import Any

from iotide_agent.mpi.member import Member
from iotide_agent.runner.load import Load
from iotide_agent.runner.loop import Loop


def run_member_step(
    loop: Loop,
    member: Member,
    step: int,
    start: Callable[[Sequence[str]], Load],
    *,
    until: float,
    check: Callable[[], None],
    patience_seconds: float,
) -> list[dict[str, Any]]:
    """Start what the head asks for until it ends the step; return the records of all parts.

    `check` is called at the latest at `until` of CLOCK_BOOTTIME. Raise RunEndedError, with all processes ended, from
    `check` or for a lost head.
    """
    member.begin_step(step, start)
    try:
        while not member.is_over():
            check()
            loop.turn(until)
    finally:
        member.end_step(patience_seconds)
    return [load.close() for load in member.ended]
