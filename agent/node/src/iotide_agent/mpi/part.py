"""Part of a runner in one program over several nodes: meet the others, prove the shared directory, run, and part."""

import os
import socket
import sys
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from iotide_agent.mpi import shared_directory
from iotide_agent.mpi.addresses import read_members
from iotide_agent.mpi.groups import HeadGroups, MemberGroups
from iotide_agent.mpi.head import Head, write_remote_start
from iotide_agent.mpi.launchers import OWN_PART, Launch, LauncherKind, PortRange, TooFewPortsError, command_of
from iotide_agent.mpi.member import Gathering, Member
from iotide_agent.mpi.remote_commands import Allowance
from iotide_agent.mpi.remote_start import SOCKET
from iotide_agent.runner.card import Card, GangCard
from iotide_agent.runner.endings import RunEndedError
from iotide_agent.runner.gang_part import GangPart
from iotide_agent.runner.groups import Groups
from iotide_agent.runner.hand import Check, HandFailedError, HandHungError, HandLimits, Hands
from iotide_agent.runner.load import Load, Surroundings
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.processes import boottime
from iotide_agent.runner.sampler import Printed, Sampler
from iotide_agent.runner.users import acting_as
from iotide_agent.runner.walls import why_program_changeable
from iotide_agent.runner.workspace import TargetRefusedError

GATHER_SECONDS: Final = 10.0
ANSWER_SECONDS: Final = 60.0
"""Longest wait for the others' proofs, with targets that answer slowly."""
RSH: Final = "RSH"
"""Environment variable in which iozone finds its remote shell."""
_NONCE_BYTES: Final = 16


class NodePart(GangPart):
    """Common to head and member."""

    def __init__(self, card: Card, gang: GangCard, directory: Path, loop: Loop) -> None:
        self._card = card
        self._gang = gang
        self._directory = directory
        self._loop = loop

    def check_programs(self, hands: Hands, limits: HandLimits, check: Check) -> None:
        """Raise RunEndedError if a program of [mpi] is missing, or other users could change it."""
        python = sys.executable if self._gang.is_head else ""
        _guarded(hands, partial(_check_programs, self._card, self._programs(), python), limits, check)

    @abstractmethod
    def _programs(self) -> tuple[str, ...]:
        pass


class HeadPart(NodePart):
    """Starts the launcher."""

    def __init__(self, card: Card, gang: GangCard, directory: Path, loop: Loop) -> None:
        super().__init__(card, gang, directory, loop)
        self._head: Head | None = None
        self._groups: HeadGroups | None = None
        self._remote_start = directory / "scratch" / "remote-start"

    def listen(self) -> dict[str, Any]:
        """Return nothing: the members listen."""
        return {}

    def meet(self, directories: Sequence[str], hands: Hands, limits: HandLimits, check: Check) -> None:
        """Gather the members and have all nodes read each other's files."""
        scratch = self._directory / "scratch"
        self._remote_start = write_remote_start(scratch, self._card.run_as)
        host, own = socket.gethostname(), self._gang.nodes[0]
        allowance = Allowance(self._gang.programs, (*own, host))
        self._head = head = Head(self._loop, read_members(self._directory), scratch, self._card.run_as, allowance)
        head.gather(boottime() + GATHER_SECONDS, check)
        nonce, names = os.urandom(_NONCE_BYTES).hex(), [name for name, _ in self._gang.nodes]

        def do(work: Callable[..., object], *words: object) -> None:
            _guarded(hands, partial(_as_user, self._card, work, directories, *words), limits, check)

        until = boottime() + ANSWER_SECONDS
        _accepted(head.ask(until, check, kind="share", directories=[*directories], nonce=nonce, host=host))
        own_nonce = os.urandom(_NONCE_BYTES).hex()
        do(shared_directory.read_member_proofs, nonce, names)
        do(shared_directory.write_head_proof, own_nonce)
        seen = _accepted(head.ask(boottime() + ANSWER_SECONDS, check, kind="look"))
        expected = shared_directory.expected_of_head(self._card, own_nonce)
        for node, words in seen.items():
            if words.get("nonce") != expected:
                reason = f"node {node} reads another file than this head wrote; mount the same file system on all nodes"
                raise RunEndedError("declined", "other_file_system", reason)
        do(shared_directory.remove_head_proof)

    def environment(self) -> dict[str, str]:
        """Return where the program in the place of ssh is, and where it asks."""
        if self._head is None:
            return {}
        return {SOCKET: str(self._head.desk.path), RSH: str(self._remote_start)}

    def make_groups(
        self,
        loop: Loop,
        surroundings: Surroundings,
        make_sampler: Callable[[Printed], Sampler],
        *,
        check: Check,
        note: Callable[[list[Load]], None],
    ) -> Groups:
        if self._head is None:
            raise ValueError("the members have not been met")
        kind, tasks = LauncherKind(self._gang.kind), self._gang.tasks_per_node
        self._groups = groups = HeadGroups(loop, surroundings, make_sampler, check=check, note=note)
        if tasks is None:
            groups.lead(self._head, None, "")
        else:
            groups.lead(self._head, partial(self._command, kind, tasks), OWN_PART.get(kind, ""))
        return groups

    def check(self) -> None:
        """Raise RunEndedError for a lost member, or a part that ended early."""
        if self._head is not None:
            self._head.check()

    def close(self) -> None:
        """Have the members end what they still run, for at most some seconds."""
        if self._head is not None:
            self._head.end_members()
            self._head.close()

    def record(self) -> dict[str, Any]:
        """Return refusals, processes left over by node, the longest silence, and steps whose launcher hung."""
        if self._head is None:
            return {}
        return {
            "refused": self._head.refused | ({"caller": count} if (count := self._head.desk.refused) else {}),
            "left_over": self._head.left_over,
            "longest_silence_seconds": self._head.longest_silence_seconds,
            "hung_steps": self._groups.hung_steps if self._groups else [],
        }

    def _programs(self) -> tuple[str, ...]:
        return self._gang.launcher[:1] if self._gang.tasks_per_node is not None else ()

    def _command(self, kind: LauncherKind, tasks_per_node: int, program: Sequence[str]) -> tuple[str, ...]:
        gang = self._gang
        launch = Launch(
            kind,
            gang.launcher,
            [address for _, address in gang.nodes],
            tasks_per_node,
            str(self._remote_start),
            gang.interface,
            PortRange(*gang.ports),
        )
        try:
            return command_of(launch, program)
        except TooFewPortsError as error:
            raise RunEndedError("declined", "too_few_ports", str(error)) from error


class MemberPart(NodePart):
    """Starts remote parts when the head asks for them."""

    def __init__(self, card: Card, gang: GangCard, directory: Path, loop: Loop) -> None:
        super().__init__(card, gang, directory, loop)
        self._member: Member | None = None

    def listen(self) -> dict[str, Any]:
        """Make the token of this attempt, and listen for the head."""
        token = os.urandom(_NONCE_BYTES).hex()
        allowance = Allowance(self._gang.programs, self._gang.nodes[0])
        try:
            self._member = Member(self._loop, Gathering(self._gang.address, token, allowance, self._gang.heads))
        except OSError as error:
            reason = f"the run cannot listen at {self._gang.address}: {error.strerror}"
            raise RunEndedError("declined", "cannot_listen", f"{reason}; correct data_address in agent.toml") from error
        return {"ports": [self._member.gate.port], "token": token}

    def meet(self, directories: Sequence[str], hands: Hands, limits: HandLimits, check: Check) -> None:
        """Answer the head, which proves that all nodes use its directories."""
        member = self._known()
        number = [address for _, address in self._gang.nodes].index(self._gang.address)
        member.expect_head()
        shared = self._asked(member, "share", check)

        def do(work: Callable[..., object], *words: object) -> Any:  # noqa: ANN401 - JSON
            try:
                return _guarded(hands, partial(_as_user, self._card, work, directories, *words), limits, check)
            except RunEndedError as error:
                member.say(kind="unshared", code=error.code, reason=str(error))
                raise

        member.trust_name(shared["host"])
        directories = shared["directories"]
        do(shared_directory.write_member_proofs, shared["nonce"], number)
        member.say(kind="shared")
        self._asked(member, "look", check)
        member.say(kind="seen", nonce=do(shared_directory.read_head_proof, number))

    def environment(self) -> dict[str, str]:
        """Return nothing: only a launcher asks its runner."""
        return {}

    def _asked(self, member: Member, kind: str, check: Check) -> Any:  # noqa: ANN401 - JSON
        until = boottime() + ANSWER_SECONDS + GATHER_SECONDS
        while (words := member.asked(kind)) is None:
            check()
            if boottime() >= until:
                raise RunEndedError("failed", "head_lost", "the head of the run did not name its directories in time")
            self._loop.turn(until)
        return words

    def make_groups(
        self,
        loop: Loop,
        surroundings: Surroundings,
        make_sampler: Callable[[Printed], Sampler],
        *,
        check: Check,
        note: Callable[[list[Load]], None],
    ) -> Groups:
        groups = MemberGroups(loop, surroundings, make_sampler, check=check, note=note)
        groups.follow(self._known())
        return groups

    def check(self) -> None:
        """Raise RunEndedError for a lost head."""
        if self._member is not None:
            self._member.check()

    def close(self) -> None:
        """Close the channel, which ends the run if it still runs."""
        if self._member is not None:
            self._member.close()

    def record(self) -> dict[str, Any]:
        """Return refusals of requests and of strangers, processes left over, and the longest silence."""
        if self._member is None:
            return {}
        channel = self._member.gate.channel
        return {
            "refused": self._member.refused,
            "strangers": self._member.gate.refused,
            "left_over": {self._name(): self._member.left_over},
            "longest_silence_seconds": channel.longest_silence_seconds if channel else 0.0,
        }

    def _known(self) -> Member:
        if self._member is None:
            raise ValueError("the member does not listen")
        return self._member

    def _name(self) -> str:
        return next(name for name, address in self._gang.nodes if address == self._gang.address)

    def _programs(self) -> tuple[str, ...]:
        return self._gang.programs


def make_part(card: Card, gang: GangCard, directory: Path, loop: Loop) -> GangPart:
    return HeadPart(card, gang, directory, loop) if gang.is_head else MemberPart(card, gang, directory, loop)


def _accepted(answers: dict[str, Any]) -> dict[str, Any]:
    """Return the answers; raise RunEndedError with a member's refusal."""
    for node, words in answers.items():
        if words["kind"] == "unshared":
            raise RunEndedError("declined", words["code"], f"node {node}: {words['reason']}")
    return answers


def _guarded(hands: Hands, work: Callable[[], object], limits: HandLimits, check: Check) -> Any:  # noqa: ANN401 - JSON
    try:
        return hands.do(work, limits, check)
    except TargetRefusedError as error:
        raise RunEndedError("declined", error.code, str(error)) from error
    except HandHungError as error:
        raise RunEndedError("declined", "target_hangs", f"a target or program does not answer: {error}") from error
    except HandFailedError as error:
        raise RunEndedError("declined", "target_error", f"a target or program cannot be used: {error}") from error


def _as_user(card: Card, work: Callable[..., object], *words: object) -> object:
    with acting_as(card.run_as):
        return work(card, *words)


def _check_programs(card: Card, programs: Sequence[str], python: str) -> None:
    """Raise TargetRefusedError; `python` is that of the program in the place of ssh, empty if none is needed."""
    with acting_as(card.run_as):
        if python and not os.access(python, os.X_OK, effective_ids=True):
            reason = f"user {os.geteuid()} cannot start the agent's Python, {python}"
            raise TargetRefusedError("no_remote_start", f"{reason}; install the agent where that user can read it")
        for program in programs:
            if not (os.path.isfile(program) and os.access(program, os.X_OK, effective_ids=True)):  # noqa: PTH113 - no Path: start-up time
                reason = f"{program} does not exist or cannot be started by user {os.geteuid()}"
                remedy = "install it, or correct launcher and programs of [mpi] in agent.toml"
                raise TargetRefusedError("mpi_program_missing", f"{reason}; {remedy}")
            changeable = why_program_changeable(program)
            if changeable is not None:
                raise TargetRefusedError("mpi_program_open_to_others", changeable)
