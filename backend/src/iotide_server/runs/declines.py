"""Declines by a node's own cause: how long they postpone a run, and which other runs wait as long."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import Row, text
from sqlalchemy.orm import Session

from iotide_server.runs.explanation import DeclinedAlike


class DeclineScope(StrEnum):
    """Other runs of the node that would be declined too."""

    NODE = "node"  # runs with the same `exclusive`
    TARGETS = "targets"  # runs that load the same targets there, and perhaps others
    WORKLOAD = "workload"
    CELL = "cell"


_Meaning = tuple[DeclineScope, int, int | str | frozenset[int]]


class PutOff(NamedTuple):
    wait: timedelta
    scope: DeclineScope


PUT_OFF: Final = {
    "node_busy_locally": PutOff(timedelta(seconds=30), DeclineScope.NODE),
    "memory_short": PutOff(timedelta(seconds=60), DeclineScope.CELL),
    "target_hangs": PutOff(timedelta(minutes=5), DeclineScope.TARGETS),
    "target_fails": PutOff(timedelta(minutes=5), DeclineScope.TARGETS),
    "directory_open_to_others": PutOff(timedelta(minutes=5), DeclineScope.TARGETS),
    "no_load_user": PutOff(timedelta(minutes=5), DeclineScope.NODE),
    "tool_missing": PutOff(timedelta(minutes=5), DeclineScope.WORKLOAD),
}
"""Effect of a decline by reason code; it never counts. For agents of all releases, which send no time."""

_LONGEST_SECONDS: Final = max(put_off.wait for put_off in PUT_OFF.values()).total_seconds()
_TABLE: Final = ", ".join(
    f"('{code}', interval '{put_off.wait.total_seconds()} s', '{put_off.scope}')" for code, put_off in PUT_OFF.items()
)

# The declined run is the record: while it waits, it holds the time. Nothing is written for other runs, whose number
# is unbounded. A gang's attempt may end after the node's decline.
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
      AND (put_off.scope <> '{DeclineScope.TARGETS}' OR cardinality(place.target_ids) > 0)
"""  # noqa: S608 - made of the constants above
"""SQL of the declines that still apply. Parameter: `now`."""

_LOADS: Final = """
    NOT EXISTS (
        SELECT FROM run JOIN cell_node USING (cell_id)
        WHERE run.id = other.run_id AND cell_node.node_id = other.node_id AND step_role = 'sender')
"""


def _meets(scope: DeclineScope, column: str, own: str) -> str:
    """Return SQL that is true if `other` matches a row of this scope.

    The separate check of the node id avoids most reads of `own`.
    """
    rows = f"FROM unfit WHERE scope = '{scope}'"
    return f"(other.node_id IN (SELECT node_id {rows}) AND (other.node_id, {own}) IN (SELECT node_id, {column} {rows}))"


_OF_RUN: Final = "(SELECT {column} FROM run WHERE run.id = other.run_id)"
_WORKLOAD: Final = "(SELECT workload_id FROM cell WHERE cell.id = {cell_id})"
_LARGER: Final = f"""
    cardinality(other.target_ids) > 1 AND other.node_id IN (
        SELECT node_id FROM unfit WHERE scope = '{DeclineScope.TARGETS}')
    AND EXISTS (
        SELECT FROM unfit WHERE scope = '{DeclineScope.TARGETS}' AND unfit.node_id = other.node_id
            AND other.target_ids @> unfit.target_ids)
"""  # noqa: S608 - made of the constants above

# Hash lookups: a node may decline hundreds of cells with thousands of waiting runs. Only lists of several targets are
# compared.
MEETS_UNFIT: Final = f"""
    other.node_id IN (SELECT node_id FROM unfit) AND (
        {_meets(DeclineScope.CELL, "cell_id", _OF_RUN.format(column="cell_id"))}
        OR {_meets(DeclineScope.WORKLOAD, "workload_id", _WORKLOAD.format(cell_id=_OF_RUN.format(column="cell_id")))}
        OR {_meets(DeclineScope.NODE, "exclusive", _OF_RUN.format(column="exclusive"))}
        OR (({_meets(DeclineScope.TARGETS, "target_ids", "other.target_ids")} OR ({_LARGER})) AND {_LOADS}))
"""  # noqa: S608 - made of the constants above
"""SQL that is true if a row of `unfit` would make the node decline `other`, a position in its queue."""

_DECLINES: Final = text(
    f"""
    SELECT declined.*, node.name AS node FROM ({DECLINED}) AS declined JOIN node ON node.id = declined.node_id
    WHERE node_id IN (SELECT node_id FROM line_place WHERE run_id = ANY(:run_ids))
    ORDER BY until, run_id DESC
    """  # noqa: S608 - made of the constants above
)
_PLACES: Final = text(
    f"""
    SELECT other.node_id, other.run_id, other.target_ids, run.exclusive, cell.workload_id, cell.id AS cell_id,
           {_LOADS} AS loads
    FROM line_place AS other JOIN run ON run.id = other.run_id JOIN cell ON cell.id = run.cell_id
    WHERE other.run_id = ANY(:run_ids)
    """  # noqa: S608 - made of the constants above
)


def declined_alike(session: Session, run_ids: Collection[int], now: datetime) -> dict[int, DeclinedAlike]:
    """Return by run id the other run's decline that postpones it longest.

    Matched in Python: PostgreSQL underestimates both sides and would use a nested loop.
    """
    values = {"run_ids": list(run_ids), "now": now}
    # Sorted by `until`: the longest of equal declines wins.
    by_meaning = {_meaning(DeclineScope(row.scope), row): row for row in session.execute(_DECLINES, values)}
    if not by_meaning:
        return {}
    of_targets: dict[int, list[Row[Any]]] = {}
    for (scope, node_id, _), row in by_meaning.items():
        if scope is DeclineScope.TARGETS:
            of_targets.setdefault(node_id, []).append(row)
    found: dict[int, Row[Any]] = {}
    for place in session.execute(_PLACES, values):
        for row in _met(place, by_meaning, of_targets.get(place.node_id, ())):
            longest = found.get(place.run_id)
            if row.run_id != place.run_id and (longest is None or _rank(row) > _rank(longest)):
                found[place.run_id] = row
    return {run_id: DeclinedAlike(row.node, row.run_id, row.reason, row.until) for run_id, row in found.items()}


def _rank(row: Row[Any]) -> tuple[datetime, int]:
    return row.until, -row.run_id


def _meaning(scope: DeclineScope, row: Row[Any]) -> _Meaning:
    match scope:
        case DeclineScope.CELL:
            return scope, row.node_id, row.cell_id
        case DeclineScope.WORKLOAD:
            return scope, row.node_id, row.workload_id
        case DeclineScope.NODE:
            return scope, row.node_id, row.exclusive
        case DeclineScope.TARGETS:
            return scope, row.node_id, frozenset(row.target_ids)


def _met(place: Row[Any], declines: Mapping[_Meaning, Row[Any]], of_targets: Iterable[Row[Any]]) -> Iterator[Row[Any]]:
    """Yield the declines that apply: equal ones, and those of a subset of the targets."""
    for scope in DeclineScope:
        if (scope is not DeclineScope.TARGETS or place.loads) and (
            row := declines.get(_meaning(scope, place))
        ) is not None:
            yield row
    if place.loads and len(place.target_ids) > 1:
        own = frozenset(place.target_ids)
        yield from (row for row in of_targets if own.issuperset(row.target_ids))
