"""What the node sees of a run besides its output: the storage's condition at both ends, and each second between."""

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
"""How long a run waits for the condition of its storage; a command that hangs is given up after ten seconds."""
_logger = logging.getLogger(__name__)


def begin_witness(files: OrderFiles, plan: Plan, then: Callable[[], None]) -> None:
    """Notes the condition before the load beside the caller, and calls `then` in that thread: the load may begin.

    A pool that hangs holds up a run for LOOK_SECONDS, and the agent not at all.
    """
    is_late = threading.Event()

    def note() -> None:
        condition = _condition(plan)
        if condition is None or is_late.is_set():  # the load may have begun, and this is no "before" any more
            return
        try:
            replace_file(files.condition, json.dumps(asdict(condition)), durable=False)
        except FileNotFoundError:
            return  # the run was cancelled and its order forgotten meanwhile
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
    """All that was seen; looks at the storage once more, which may take seconds."""
    before = read_json(files.condition)
    if plan and not before:  # not seen in time, or the agent was killed while it looked
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
        # A fault of ours in looking at the storage must not lose the numbers; that nobody looked is in the log.
        _logger.exception("condition_unknown")
        return None
