"""Declines for what only their node can end: how long they put a run off, and which other runs wait as long."""

from collections.abc import Collection
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.runs.explanation import DeclinedAlike


class Scope(StrEnum):
    """Says which other runs that wait for the node would meet the same."""

    NODE = "node"
    """Those that take as much of the node for themselves."""
    TARGETS = "targets"
    """Those that load the same targets there, and perhaps more."""
    WORKLOAD = "workload"
    CELL = "cell"


class PutOff(NamedTuple):
    """Says what a decline does."""

    wait: timedelta
    scope: Scope


PUT_OFF: Final = {
    "node_busy_locally": PutOff(timedelta(seconds=30), Scope.NODE),
    "memory_short": PutOff(timedelta(seconds=60), Scope.CELL),
    "target_hangs": PutOff(timedelta(minutes=5), Scope.TARGETS),
    "target_fails": PutOff(timedelta(minutes=5), Scope.TARGETS),
    "directory_open_to_others": PutOff(timedelta(minutes=5), Scope.TARGETS),
    "no_load_user": PutOff(timedelta(minutes=5), Scope.NODE),
    "tool_missing": PutOff(timedelta(minutes=5), Scope.WORKLOAD),
}
"""What a decline does by its reason code; such a decline never counts.

It holds for agents of every release, though they name no time themselves.
"""

_LONGEST_SECONDS: Final = max(put_off.wait for put_off in PUT_OFF.values()).total_seconds()
_TABLE: Final = ", ".join(
    f"('{code}', interval '{put_off.wait.total_seconds()} s', '{put_off.scope}')" for code, put_off in PUT_OFF.items()
)

# The run that was declined is the record: it waits, and in its place in line stands until when. So nothing is written
# for the others, whose number has no bound. A decline of the whole gang may come later than that of the node.
DECLINED: Final = f"""
    SELECT place.node_id, put_off.scope, run.exclusive, place.target_ids, cell.workload_id, cell.id AS cell_id,
           run.id AS run_id, run.reason, least(place.not_before, attempt.ended_at + put_off.wait) AS until
    FROM line_place AS place JOIN run ON run.id = place.run_id JOIN cell ON cell.id = run.cell_id
    JOIN (VALUES {_TABLE}) AS put_off (code, wait, scope) ON put_off.code = run.reason_code
    CROSS JOIN LATERAL (
        SELECT id, ended_at FROM attempt WHERE attempt.run_id = run.id ORDER BY ordinal DESC LIMIT 1
    ) AS attempt
    JOIN node_order ON node_order.attempt_id = attempt.id AND node_order.node_id = place.node_id
         AND node_order.role = 'load' AND node_order.outcome = 'declined'
    WHERE place.not_before > :now AND place.not_before <= :now + interval '{_LONGEST_SECONDS} s'
      AND attempt.ended_at + put_off.wait > :now
      AND (put_off.scope <> '{Scope.TARGETS}' OR cardinality(place.target_ids) > 0)
"""  # noqa: S608 - made of the constants above
"""SQL of what nodes declined lately and decline still; takes `now`."""

_LOADS: Final = """
    NOT EXISTS (
        SELECT FROM run JOIN cell_node USING (cell_id)
        WHERE run.id = other.run_id AND cell_node.node_id = other.node_id AND step_role = 'sender')
"""
_ALIKE: Final = f"""
    CASE unfit.scope
    WHEN '{Scope.TARGETS}' THEN other.target_ids @> unfit.target_ids AND {_LOADS}
    ELSE EXISTS (
        SELECT FROM run JOIN cell ON cell.id = run.cell_id WHERE run.id = other.run_id AND CASE unfit.scope
            WHEN '{Scope.NODE}' THEN run.exclusive = unfit.exclusive
            WHEN '{Scope.WORKLOAD}' THEN cell.workload_id = unfit.workload_id
            ELSE cell.id = unfit.cell_id END)
    END
"""

# Most places are of nodes without such a row, or load just the targets of one: both are looked up by their hash.
MEETS_UNFIT: Final = f"""
    other.node_id IN (SELECT node_id FROM unfit) AND (
        ((other.node_id, other.target_ids) IN (
            SELECT node_id, target_ids FROM unfit WHERE scope = '{Scope.TARGETS}') AND {_LOADS})
        OR EXISTS (SELECT FROM unfit WHERE unfit.node_id = other.node_id AND {_ALIKE}))
"""  # noqa: S608 - made of the constants above
"""SQL of whether the place in line `other` would meet what a row of `unfit` says of its node."""

_ALIKE_OF = text(
    f"""
    WITH unfit AS MATERIALIZED ({DECLINED})
    SELECT DISTINCT ON (other.run_id) other.run_id, node.name AS node, unfit.run_id AS declined_run_id,
           unfit.reason, unfit.until
    FROM line_place AS other JOIN unfit USING (node_id) JOIN node ON node.id = other.node_id
    WHERE other.run_id = ANY(:run_ids) AND unfit.run_id <> other.run_id AND {_ALIKE}
    ORDER BY other.run_id, unfit.until DESC, unfit.run_id
    """  # noqa: S608 - made of the constants above
)


def declined_alike(session: Session, run_ids: Collection[int], now: datetime) -> dict[int, DeclinedAlike]:
    """Return, by id of these waiting runs, the decline of another run that puts them off longest, if there is one."""
    rows = session.execute(_ALIKE_OF, {"run_ids": list(run_ids), "now": now})
    return {row.run_id: DeclinedAlike(row.node, row.declined_run_id, row.reason, row.until) for row in rows}
