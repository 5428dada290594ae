"""Observations of a run: storage condition before and after, and every second in between."""

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from iotide_agent.core.spool import OrderFiles
from iotide_agent.judging.run import Witness, read_rows
from iotide_agent.orders.plan import Plan
from iotide_agent.probes.condition import Condition, look_below
from iotide_agent.probes.reader import SystemReader
from iotide_agent.runner.files import read_json, replace_file

LOOK_SECONDS: Final = 15.0
_logger = logging.getLogger(__name__)


def begin_witness(files: OrderFiles, plan: Plan, then: Callable[[], None]) -> None:
    """Record the storage condition in a thread, then call `then` there to let the load begin.

    A hanging pool delays a run by at most LOOK_SECONDS, and the agent not at all.
    """
    is_late = threading.Event()

    def note() -> None:
        condition = _condition(plan)
        if condition is None or is_late.is_set():  # the load may have begun, so this is no longer "before"
            return
        try:
            replace_file(files.condition, json.dumps(asdict(condition)), durable=False)
        except FileNotFoundError:
            return  # the run was cancelled and its order forgotten
        except OSError:
            _logger.exception("condition_not_kept directory=%s", files.directory)

    def wait() -> None:
        looking = threading.Thread(target=note, daemon=True)
        looking.start()
        looking.join(LOOK_SECONDS)
        is_late.set()
        then()

    threading.Thread(target=wait, daemon=True).start()


def end_witness(files: OrderFiles, ended: dict[str, Any], plan: Plan | None) -> Witness:
    """Read the storage again, which may take seconds."""
    before = read_json(files.condition)
    if plan and not before:  # too late, or the agent was killed
        _logger.warning("condition_before_unknown directory=%s", files.directory)
    return Witness(
        ended=ended,
        rows=list(read_rows(files.curve)),
        before=_kept(before) if before else None,
        after=_condition(plan) if plan else None,
    )


def _kept(before: dict[str, Any]) -> Condition:
    return Condition(tuple(before["troubles"]), before["errors"], tuple(before.get("unread", ())))


def _condition(plan: Plan) -> Condition | None:
    try:
        targets = [str(place.directory) for place in plan.places if place.target_id is not None]
        return look_below(targets, SystemReader())
    except Exception:
        # An error in this reading must not lose the numbers; the log has it.
        _logger.exception("condition_unknown")
        return None
