"""Order that this node holds, in memory and in its files."""

import logging
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from iotide_agent.core.protocol import Stage, first_stage
from iotide_agent.core.spool import OrderFiles
from iotide_agent.mpi.addresses import MemberAddress, write_members
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.plan import Plan, read_endpoint
from iotide_agent.orders.progress import RunWatch
from iotide_agent.orders.results import keep_artefacts
from iotide_agent.orders.runner_process import RunnerProcess
from iotide_agent.runner.aftermath import note_unkilled
from iotide_agent.runner.card import read_card
from iotide_agent.runner.files import read_json, replace_file
from iotide_agent.runner.places import Places
from iotide_agent.runner.record import Ending, Measured, Settled, exit_record, read_phase, write_exit
from iotide_wire.endpoint import Endpoint, NamedEndpoint
from iotide_wire.foreign import ForeignBefore
from iotide_wire.measured import StepRole
from iotide_wire.messages import ArtefactFact, Order, OrderRole

_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class ActiveRun:
    """`process` is its runner or cleanup process, `aftermaths` the number of cleanup attempts.

    `ended_for`: why another program ended all processes of this node; then the reason of every failure. `last_word`:
    content of `exit.json` if it could not be written. `held_since`: time of a claim that waits for an idle node.
    """

    order: Order
    files: OrderFiles
    watch: RunWatch
    process: RunnerProcess | None = None
    plan: Plan | None = None
    was_started: bool = False
    aftermaths: int = 0
    ended_for: Verdict | None = None
    last_word: dict[str, Any] | None = None
    held_since: float | None = None

    @property
    def observes(self) -> bool:
        return self.order.role is OrderRole.OBSERVE

    def endpoint(self) -> Endpoint | None:
        """Return where a receiver or a member is ready, None for any other node."""
        if self.order.step_role is StepRole.RECEIVER:
            return read_endpoint(self.files)
        # Only the head may know a member's token, so no file of the loads has it.
        phase = self.phase() if self.order.step_role is StepRole.MEMBER else {}
        if "token" not in phase:
            return None
        return Endpoint(address=phase["address"], ports=tuple(phase["ports"]), token=phase["token"])

    def ended(self) -> dict[str, Any] | None:
        return read_json(self.files.exit) or self.last_word

    def phase(self) -> dict[str, Any]:
        return read_phase(self.files.directory)


class MembersMissingError(Exception):
    """Start signal for a head without the endpoints of all its members."""


def give_members(run: ActiveRun, members: tuple[NamedEndpoint, ...]) -> None:
    """Write the members' endpoints for the runner of the head; raise MembersMissingError, or OSError."""
    given = {member.node: member.endpoint for member in members}
    wanted = [node.name for node in run.order.gang[1:]]
    if missing := [name for name in wanted if name not in given]:
        raise MembersMissingError(f"the start signal has no endpoint of {', '.join(missing)}; submit the run again")
    found = ((name, given[name]) for name in wanted)
    addresses = [MemberAddress(name, it.address, it.ports[0], it.token) for name, it in found]
    write_members(run.files.directory, addresses)


@dataclass(frozen=True, slots=True)
class HeldOrder:
    """Order that waits for its node to be idle since `since`, on the caller's clock."""

    order: Order
    since: float


def stage_of(run: ActiveRun, phase: dict[str, Any]) -> Stage:
    if run.files.result.exists():
        return Stage.UPLOADING
    if run.files.exit.exists() or phase.get("phase") in {"running", "settling"}:
        return Stage.RUNNING
    if run.plan is None:
        return first_stage(run.order)
    return Stage.RELEASED if run.files.go.exists() else Stage.READY


def raw_output(run: ActiveRun) -> tuple[ArtefactFact, ...]:
    try:
        return keep_artefacts(run.files, run.ended() or {}, run.plan)
    except (OSError, ValueError):
        _logger.exception("raw_output_lost order_id=%d", run.order.order_id)
        return ()


def give_up(run: ActiveRun) -> None:
    """Store the end of a run that neither its runner nor three cleanup attempts could write."""
    phase: dict[str, Any] = {}
    leftovers = [f"those of {run.files.card}"]
    try:
        phase = run.phase()
        note_unkilled(run.files.directory, phase)
        leftovers = Places(read_card(run.files.directory)).possible()
    except (OSError, ValueError, LookupError, TypeError):
        _logger.exception("card_unreadable order_id=%d", run.order.order_id)
    reason = "the runner and all cleanup processes were killed"
    ending, measured = Ending("failed", "runner_died", reason), Measured(phase.get("steps", []))
    run.last_word = exit_record(phase, ending, Settled([], leftovers), measured)
    try:
        write_exit(run.files.directory, run.last_word)
    except OSError:
        _logger.exception("last_word_in_memory_only order_id=%d", run.order.order_id)


def keep_before(files: OrderFiles, before: ForeignBefore) -> None:
    try:
        replace_file(files.foreign, before.model_dump_json(), durable=False)
    except OSError:
        _logger.exception("foreign_load_not_kept directory=%s", files.directory)


def read_before(files: OrderFiles) -> ForeignBefore | None:
    try:
        return ForeignBefore.model_validate_json(files.foreign.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError:
        # From another version of the agent.
        _logger.exception("foreign_load_unreadable directory=%s", files.directory)
        return None
