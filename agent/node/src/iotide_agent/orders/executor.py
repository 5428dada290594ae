"""Start, control and adoption of runners; nothing else in the agent starts loads."""

import json
import logging
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from iotide_agent.core.spool import NodeBusyError, OrderFiles, Spool
from iotide_agent.node.config import AgentConfig
from iotide_agent.node.host import set_aside_room
from iotide_agent.node.inventory import Inventory, load_environment, renewed
from iotide_agent.orders.budget import BudgetUnknownError, Ledger, written_bytes
from iotide_agent.orders.declined import DeclinedError
from iotide_agent.orders.gangs import environment_of_gang, gang_card, layout_of
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.plan import Plan, Work, make_plan
from iotide_agent.orders.runner_process import RunnerProcess, adopted_runner, start_runner
from iotide_agent.runner import GANG, RUNNER, processes
from iotide_agent.runner.card import Card, TargetCard, write_cancel, write_card, write_go
from iotide_agent.runner.doorbell import ring
from iotide_agent.runner.files import closing, read_json
from iotide_agent.runner.memory import read_memory
from iotide_agent.runner.orphans import Orphan, Wanted, write_wanted
from iotide_agent.runner.record import read_phase, write_places
from iotide_agent.workloads.base import PlanRefusedError
from iotide_agent.workloads.bounds import why_too_large
from iotide_agent.workloads.registry import UnknownWorkloadError, workload
from iotide_agent.workloads.scratch import FENCE, ORDER, REMOUNTS
from iotide_wire.base import problem_in
from iotide_wire.expressions import TARGET_COUNT, TARGET_RESERVE, ExpressionError, evaluate
from iotide_wire.facts import Facts
from iotide_wire.measured import GANG_ROLES, StepRole
from iotide_wire.messages import Order, OrderRole, OrderTarget, Outcome
from iotide_wire.plan import CachePolicy
from iotide_wire.units import MIB

OUTPUT_LIMIT_BYTES: Final = 8 * MIB
"""Limit per output stream of a step."""
PATIENCE_SECONDS: Final = 10.0
ROOM_RETRY_SECONDS: Final = 60.0
"""Delay after the agent's disk was full."""
GATHERING_SECONDS: Final = 180.0
"""Extra time for the start signal: two minutes until the server gives up a gang, and one for an unreachable server."""
_MOST_SHOWN: Final = 200
"""Maximum characters of a refused value, so that the reason after it is kept whole."""
_logger = logging.getLogger(__name__)


class Executor:
    """The caller renews `inventory`, and so does a claim for its targets."""

    def __init__(self, config: AgentConfig, agent: str, spool: Spool, inventory: Inventory) -> None:
        self._config = config
        self._agent = agent
        self._spool = spool
        self._ledger = Ledger(config.state_directory, inventory.budget, time.time)
        self.inventory = inventory

    def look_at_targets(self, order: Order) -> None:
        """Read the order's targets again; takes some 50 ms, and seconds on a dead mount."""
        self.inventory = renewed(self.inventory, [target.path for target in order.targets])

    def begin(self, order: Order, active_orders: int) -> RunnerProcess:
        """Check the order without touching a target, lock the node and start the runner; raise DeclinedError."""
        if order.role is OrderRole.OBSERVE:
            return self._begin_observing(order)
        work = self._work_here(order)
        self._check_slots(active_orders)
        self._check_spool()
        user = self.inventory.load_user
        if not user.is_usable:
            raise DeclinedError("no_load_user", f"{user.sentence}; {user.remedy}")
        refused = why_too_large(work.options.memory_needed_for(len(order.targets)), read_memory())
        if refused is not None:
            outcome = Outcome.FAILED if refused.is_final else Outcome.DECLINED
            raise DeclinedError(refused.code, refused.reason, outcome)
        card = self._card(order, work)
        self._set_aside_room(order)
        try:
            lock = self._spool.lock_node(order.node_mode)
        except NodeBusyError as error:
            raise DeclinedError("node_busy_locally", str(error)) from error
        try:
            self._reserve(card)
            directory = self._spool.files(order.order_id).directory
            write_card(directory, card)
            return start_runner(directory, (*([GANG] if card.gang else []), str(lock)), (lock,))
        except OSError as error:
            self._ledger.settle(order.order_id, 0)
            raise DeclinedError("agent_fault", f"no runner can be started: {error}") from error
        finally:
            # From here on the runner and its load hold the lock, so that it outlives this agent.
            os.close(lock)

    def _begin_observing(self, order: Order) -> RunnerProcess:
        """Start a runner that only samples. It takes no lock, so it runs next to loads and other observers."""
        self._check_spool()
        self._set_aside_room(order)
        directory = self._spool.files(order.order_id).directory
        try:
            card = self._idle_card(order.order_id, order.fence)
            write_card(directory, card._replace(time_limit_seconds=order.time_limit_seconds, observes=True))
            return start_runner(directory, (), ())
        except OSError as error:
            raise DeclinedError("agent_fault", f"no runner can be started: {error}") from error

    def note_written(self, order_id: int) -> None:
        files = self._spool.files(order_id)
        began = bool((read_json(files.exit) or {}).get("steps"))
        try:
            self._ledger.settle(order_id, written_bytes(files.curve) if began else 0)
        except (BudgetUnknownError, OSError):
            _logger.exception("written_not_noted order_id=%d", order_id)

    def _reserve(self, card: Card) -> None:
        # Each node of a gang writes its share.
        share = len(card.gang.nodes) if card.gang and card.gang.is_head else 1
        writing = [target for target in card.targets if target.writes or target.shared]
        needed = {self.inventory.real(target.path): target.bytes_needed // share for target in writing}
        try:
            spent = self._ledger.reserve(card.order_id, needed)
        except BudgetUnknownError as error:
            raise DeclinedError("budget_unknown", str(error)) from error
        if spent is None:
            return
        if spent.suffices_at is None:
            raise DeclinedError("budget_too_small", spent.sentence, Outcome.FAILED)
        raise DeclinedError("budget_spent", spent.sentence, not_before=spent.suffices_at)

    def plan(self, order: Order) -> Plan:
        """Raise DeclinedError without steps."""
        work = self.work(order)
        files = self._spool.files(order.order_id)
        try:
            return make_plan(files, read_phase(files.directory), work, self.inventory)
        except PlanRefusedError as error:
            raise DeclinedError("plan_refused", str(error), Outcome.FAILED) from error
        except Exception as error:
            _logger.exception("plan_failed run_id=%d", order.run_id)
            raise DeclinedError(
                "plan_fault", f"{order.workload} could not plan its steps: {error!r}", Outcome.FAILED
            ) from error

    def work(self, order: Order) -> Work:
        try:
            found = workload(order.workload, self._config.workloads)
            reserves = {target.target_id: target.reserve_bytes for target in order.targets}
            options = found.options_type.model_validate(order.options)
            work = Work(found, options, order.cache, reserves, order.step_role, self._own_facts(order))
            return replace(work, layout=layout_of(order, work))
        except UnknownWorkloadError as error:
            raise DeclinedError("workload_missing", str(error)) from error
        except ValidationError as error:
            raise DeclinedError("invalid_options", _options_problem(error), Outcome.FAILED) from error
        except Exception as error:
            raise DeclinedError(
                "plan_fault", f"{order.workload} could not validate its options: {error!r}", Outcome.FAILED
            ) from error

    def release(self, order_id: int, plan: Plan, at_boottime_seconds: float | None) -> None:
        files = self._spool.files(order_id)
        write_go(files.directory, plan.go(at_boottime_seconds))
        ring(files.bell)

    def cancel(self, order_id: int, verdict: Verdict) -> None:
        files = self._spool.files(order_id)
        write_cancel(files.directory, verdict.outcome.value, verdict.code or "cancelled", verdict.reason or "")
        ring(files.bell)

    def find_runner(self, files: OrderFiles) -> RunnerProcess | None:
        phase = read_phase(files.directory)
        if phase.get("boot_id") == processes.boot_id() and processes.is_alive(phase["pid"], phase["start_ticks"]):
            return adopted_runner(phase["pid"])
        if not phase:
            # It may not have recorded itself or taken its lock yet.
            started = processes.started_with(str(RUNNER), str(files.directory))
            return adopted_runner(started[0]) if started else None
        return None

    def clean_up_after(self, directory: Path) -> RunnerProcess:
        return start_runner(directory, ("--aftermath",), ())

    def remove_leftovers(self, directory: Path) -> RunnerProcess:
        """Clean up after an order that was set aside; raise NodeBusyError while a load runs."""
        lock = self._spool.lock_node("shared")
        with closing(lock):
            return start_runner(directory, ("--aftermath", str(lock)), (lock,))

    def look_for_orphans(self) -> RunnerProcess:
        """Raise NodeBusyError while a load runs."""
        # Released at once: a search on a dead mount must not occupy the node.
        os.close(self._spool.lock_node("shared"))
        approved, orders = self.inventory.approved_directories, str(self._spool.held)
        run_as = self.inventory.load_user.ids
        write_wanted(self._spool.orphans, Wanted(self._agent, approved, orders, PATIENCE_SECONDS, run_as))
        return start_runner(self._spool.orphans, ("--orphans",), ())

    def set_aside(self, orphans: Sequence[Orphan]) -> None:
        first = orphans[0]
        directory = self._spool.aside_orphan(first.order_id, first.fence)
        directory.mkdir(mode=0o700, exist_ok=True)
        targets = list(enumerate(orphans, start=1))
        card = self._idle_card(first.order_id, first.fence)._replace(
            directory_name=first.name,
            targets=tuple(TargetCard(ordinal, it.parent, it.fstype, it.source, 0, 0) for ordinal, it in targets),
            approved=self._approved(),
            run_as=self.inventory.load_user.ids,
        )
        # Before the card: a crash between them leads to a new search, and the places must count as created.
        write_places(directory, [target_id for target_id, _ in targets])
        write_card(directory, card)

    def _approved(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._config.approved_directories, *self.inventory.approved_directories)))

    def _work_here(self, order: Order) -> Work:
        work = self.work(order)
        announced = self.inventory.workloads[order.workload]
        if order.schema_sha256 not in announced.ordered_sha256:
            reason = f"the run was planned for another revision of {order.workload} than {announced.revision}, which "
            reason += "this node has; submit it again"
            raise DeclinedError("schema_changed", reason)
        if not announced.available:
            raise DeclinedError("tool_missing", announced.unavailable_because or f"{announced.tool} is missing")
        return work

    def _check_slots(self, active_orders: int) -> None:
        if self._config.slots is not None and active_orders >= self._config.slots:
            reason = f"{active_orders} runs are active here; agent.toml allows {self._config.slots} (`slots`)"
            raise DeclinedError("node_busy_locally", reason)

    def _check_spool(self) -> None:
        used_bytes = self._spool.used_bytes()
        if used_bytes > self._config.spool_limit_bytes:
            raise DeclinedError(
                "spool_full",
                f"unsent results take {used_bytes} bytes in {self._spool.state_directory}, more than the "
                f"{self._config.spool_limit_bytes} of `spool_limit_bytes`; check that the server accepts results",
            )

    def _set_aside_room(self, order: Order) -> None:
        problem = set_aside_room(self._spool.state_directory, self._spool.files(order.order_id).directory)
        if problem is not None:
            again_at = datetime.now(UTC) + timedelta(seconds=ROOM_RETRY_SECONDS)
            raise DeclinedError("state_disk_full", problem, not_before=again_at)

    def _target_card(self, target: OrderTarget, work: Work, order: Order) -> TargetCard:
        self._check_identity(target)
        given = {TARGET_RESERVE: target.reserve_bytes, TARGET_COUNT: len(order.targets)}
        space = self.inventory.space_at(target.path)
        values = self.inventory.facts | space | given | work.options.model_dump(mode="json")
        try:
            bytes_needed = int(evaluate(work.workload.bytes_needed, values))
            files_needed = int(evaluate(work.workload.files_needed, values))
        except ExpressionError as error:
            raise DeclinedError("plan_fault", f"space needed: {error}", Outcome.FAILED) from error
        is_member = order.step_role is StepRole.MEMBER
        # Announced for the tasks of one node; the files of all nodes are on the head's target.
        nodes = len(order.gang) if order.step_role is StepRole.HEAD else 1
        remount_command = self._config.remount_command_at(target.path)
        if work.cache is CachePolicy.REMOUNT and work.workload.writes and not remount_command:
            reason = (
                f"the campaign remounts {target.path} before reads, but agent.toml of this node has no command "
                f"for it; add one to [remount_command], or choose another cache policy"
            )
            raise DeclinedError("remount_not_allowed", reason)
        return TargetCard(
            target.target_id,
            target.path,
            target.fstype,
            target.source,
            target.reserve_bytes,
            bytes_needed * nodes,
            work.workload.writes and not is_member,
            remount_command,
            target.mount_point,
            target.root,
            files_needed * nodes,
            shared=is_member,
        )

    def _check_identity(self, target: OrderTarget) -> None:
        """Detect another file system on the same device; the runner detects another mount."""
        found = self.inventory.mount_above(target.path)
        if found is None or (found.fstype, found.source) != (target.fstype, target.source):
            return
        identity = found.facts.get("fs.identity")
        if target.identity and identity and identity != target.identity:
            raise DeclinedError(
                "wrong_mount",
                f"{target.path} is on another file system from {target.source}, {identity}, but the target is "
                f"{target.identity}; mount that one, or accept on the target's page what is mounted now",
            )

    def _idle_card(self, order_id: int, fence: int) -> Card:
        return Card(
            order_id=order_id,
            fence=fence,
            directory_name="",
            targets=(),
            approved=(),
            agent_bell=str(self._spool.wake_bell),
            environment={},
            drop_caches=False,
            drop_command=(),
            time_limit_seconds=0.0,
            output_limit_bytes=0,
            patience_seconds=PATIENCE_SECONDS,
            agent=self._agent,
        )

    def _card(self, order: Order, work: Work) -> Card:
        receives = order.step_role is StepRole.RECEIVER
        gang = (
            gang_card(order, work, self._config, self.inventory.data_address) if order.step_role in GANG_ROLES else None
        )
        # Two nodes of one run may share a target, so the order is part of the name. A gang has one directory.
        directory_order_id = gang.order_id if gang else order.order_id
        return self._idle_card(order.order_id, order.fence)._replace(
            directory_name=f"iotide-run-{order.run_id}-{order.attempt}-{directory_order_id}",
            targets=tuple(self._target_card(target, work, order) for target in order.targets),
            approved=self._approved(),
            environment=environment_of_gang(order, self._config, gang) if gang else load_environment(),
            drop_caches=self._config.cache_drop == "auto",
            drop_command=self._config.cache_drop_command,
            time_limit_seconds=order.time_limit_seconds,
            output_limit_bytes=OUTPUT_LIMIT_BYTES,
            others_wait_seconds=order.quiet_wait_seconds + GATHERING_SECONDS,
            listen_address=self._listen_address() if receives else gang.address if gang else "",
            sockets=work.workload.sockets(work.options) if receives else 0,
            memory_limit_bytes=read_memory().total_bytes,
            # A maker asks the root helper, which answers the agent's user, or mounts by a command of agent.toml.
            run_as=() if order.step_role is StepRole.MAKER else self.inventory.load_user.ids,
            attempt=f"{order.run_id}-{order.fence}" if gang else "",
            gang=gang,
        )

    def _own_facts(self, order: Order) -> Facts:
        """Return the facts that only a maker gets."""
        if order.step_role is not StepRole.MAKER:
            return {}
        remounts = [self._config.remount_command_at(str(path)) for path in order.options.get("paths", ())]
        return {ORDER: order.order_id, FENCE: order.fence, REMOUNTS: json.dumps(remounts)}

    def _listen_address(self) -> str:
        if self.inventory.data_address is None:
            reason = (
                f"another node of the run sends to this node, but `data_address = {self._config.data_address!r}` in "
                "agent.toml is not an address of this node; correct it, then run `iotide-agent check`"
            )
            raise DeclinedError("no_data_address", reason)
        return self.inventory.data_address


def _options_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    if not first["loc"]:  # of several options together; its input would be all of them
        return f"options: {problem_in(first)}"
    shown = repr(first["input"])
    if len(shown) > _MOST_SHOWN:
        shown = f"{shown[:_MOST_SHOWN]} ..."
    # The error's location continues with positions in a list and the kind of value.
    return f"option {first['loc'][0]} = {shown}: {problem_in(first)}"
