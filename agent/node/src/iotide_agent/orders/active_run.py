"""One order that this node holds: what is known of it, and what its files say where nobody else can any more."""

import logging
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from iotide_agent.core.protocol import Stage, first_stage
from iotide_agent.core.spool import OrderFiles
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.plan import Plan
from iotide_agent.orders.progress import RunWatch
from iotide_agent.orders.results import keep_artefacts
from iotide_agent.orders.runner_process import RunnerProcess
from iotide_agent.runner.aftermath import note_unkilled
from iotide_agent.runner.card import read_card
from iotide_agent.runner.files import read_json, replace_file
from iotide_agent.runner.places import Places
from iotide_agent.runner.record import Ending, Measured, Settled, exit_record, read_phase, write_exit
from iotide_wire.foreign import ForeignBefore
from iotide_wire.measured import StepRole
from iotide_wire.messages import ArtefactFact, Order, OrderRole

_logger = logging.getLogger(__name__)


@dataclass(slots=True)
class ActiveRun:
    """An order that is held; `process` is its runner, or what cleans up after it, which was tried `aftermaths` times.

    `ended_for`: why somebody else ended all processes of this node, so that whatever failed did so for that.
    `last_word`: what `exit.json` would say where nobody could write it. `held_since`: it was claimed then and waits for
    a quiet node.
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
        """Whether it only samples the node."""
        return self.order.role is OrderRole.OBSERVE

    @property
    def receives(self) -> bool:
        """Whether another node of the run sends to this one."""
        return self.order.step_role is StepRole.RECEIVER

    def ended(self) -> dict[str, Any] | None:
        """Return how the run ended; None while it has not."""
        return read_json(self.files.exit) or self.last_word

    def phase(self) -> dict[str, Any]:
        """What the runner noted last."""
        return read_phase(self.files.directory)


@dataclass(frozen=True, slots=True)
class HeldOrder:
    """An order that waits for its node to be quiet; `since` is a time of the clock by which it was held back."""

    order: Order
    since: float


def stage_of(run: ActiveRun, phase: dict[str, Any]) -> Stage:
    """How far an order is that an earlier agent process left."""
    if run.files.result.exists():
        return Stage.UPLOADING
    if run.files.exit.exists() or phase.get("phase") in {"running", "settling"}:
        return Stage.RUNNING
    if run.plan is None:
        return first_stage(run.order)
    return Stage.RELEASED if run.files.go.exists() else Stage.READY


def raw_output(run: ActiveRun) -> tuple[ArtefactFact, ...]:
    """What there is of its raw output, kept; nothing where it cannot be."""
    try:
        return keep_artefacts(run.files, run.ended() or {}, run.plan)
    except (OSError, ValueError):
        _logger.exception("raw_output_lost order_id=%d", run.order.order_id)
        return ()


def give_up(run: ActiveRun) -> None:
    """Write the ending that neither the runner nor three attempts to clean up after it could write."""
    phase: dict[str, Any] = {}
    leftovers = [f"those of {run.files.card}"]
    try:
        phase = run.phase()
        note_unkilled(run.files.directory, phase)
        leftovers = Places(read_card(run.files.directory)).possible()
    except (OSError, ValueError, LookupError, TypeError):
        _logger.exception("card_unreadable order_id=%d", run.order.order_id)
    reason = "the runner was killed, and so was each process that was to clean up after it"
    ending, measured = Ending("failed", "runner_died", reason), Measured(phase.get("steps", []))
    run.last_word = exit_record(phase, ending, Settled([], leftovers), measured)
    try:
        write_exit(run.files.directory, run.last_word)
    except OSError:
        _logger.exception("last_word_in_memory_only order_id=%d", run.order.order_id)


def keep_before(files: OrderFiles, before: ForeignBefore) -> None:
    """Keeps what others used of the node before the run, for its result."""
    try:
        replace_file(files.foreign, before.model_dump_json(), durable=False)
    except OSError:
        _logger.exception("foreign_load_not_kept directory=%s", files.directory)


def read_before(files: OrderFiles) -> ForeignBefore | None:
    """What was kept; None where nobody looked."""
    try:
        return ForeignBefore.model_validate_json(files.foreign.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError:
        # Of another version of the agent.
        _logger.exception("foreign_load_unreadable directory=%s", files.directory)
        return None
