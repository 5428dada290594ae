"""One step of a gang on a member: from the end of its own preparation to the head's word that the step ended."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from iotide_agent.mpi.member import Member
from iotide_agent.runner.load import Load
from iotide_agent.runner.loop import Loop


class MemberStep(NamedTuple):
    """Step in which this node starts parts for the head.

    Attributes:
        number: From 0, the same on head and members.
        start: Starts a part as a load.
        until: Time of CLOCK_BOOTTIME at which `check` is called at the latest.
        patience_seconds: Time for a killed process to disappear before it counts as stuck.
    """

    number: int
    start: Callable[[Sequence[str]], Load]
    until: float
    patience_seconds: float


def run_member_step(loop: Loop, member: Member, step: MemberStep, check: Callable[[], None]) -> None:
    """Start what the head asks for until it ends the step; the caller closes the loads in `member.ended`.

    Raise RunEndedError, with all processes ended, from `check` or for a lost head.
    """
    member.begin_step(step.number, step.start)
    try:
        while not member.is_over():
            check()
            loop.turn(step.until)
    finally:
        member.end_step(step.patience_seconds)
