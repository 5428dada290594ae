"""The first half of a pass: the heads of the lines of nodes that have room, and how what they need is taken."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import compress
from math import ceil, inf
from operator import not_
from typing import Any, Final, NamedTuple, Self

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.clusters.blackouts import START_TAKES
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.runs.declines import DECLINED, MEETS_UNFIT
from iotide_server.runs.resources import KNOWN_RESOURCES, Mode, Need, Occupancy, Resource, ResourceKind, needs
from iotide_server.scheduling.matching import Demand, WaitingRun
from iotide_wire.plan import Exclusivity

HEADS_OF_A_LINE = 4
"""So many runs at the head of a node's line a pass looks at: behind one that waits for other nodes, others go first."""
HEADS_OF_AN_OWNER = 2
"""So many of them are of one owner where runs of several wait: one who waits for other nodes hides nobody else's."""

_EXCLUSIVITIES: Final = {exclusivity.value: exclusivity for exclusivity in Exclusivity}

BOUNDED_LINES = 0.95
"""The share of lines whose heads all stood before the horizon a pass ago; where so many have not all, there is none."""

_NEXT_BLACKOUTS: Final = """
    SELECT cluster_id, min(starts_at) AS starts_at FROM blackout WHERE ends_at > :now GROUP BY cluster_id
"""
_QUEUED_JOB: Final = """
    -- Nobody knows when a batch system starts a job that waits, and so when its run ends; nor when a load that no
    -- signal ends is gone.
    queued_job AS MATERIALIZED (SELECT attempt_id FROM batch_job WHERE NOT is_over AND started_at IS NULL),
    stuck_order AS MATERIALIZED (SELECT run_id, attempt_id FROM node_order WHERE stuck_since IS NOT NULL)
"""
_UNTIL: Final = """
    CASE WHEN NOT bool_or(run.overdue OR node_order.silent_since IS NOT NULL
                          OR node_order.attempt_id IN (SELECT attempt_id FROM queued_job)
                          OR node_order.attempt_id IN (SELECT attempt_id FROM stuck_order)) THEN
        max(coalesce(node_order.started_at, node_order.offered_at)
            + (run.time_limit_seconds + run.cool_down_seconds) * interval '1 s')
    END AS until
"""
_HEADS: Final = (
    # A node's line is read up to its first few runs that could start, so that a pass mostly costs what is free and not
    # what waits. It is one line for each owner, since how far an owner stands back changes and the index stays. What
    # cannot start for a while hides none behind it: it is skipped in the index alone, whose columns say all of it.
    f"""
    WITH RECURSIVE {_QUEUED_JOB}, blackouts AS MATERIALIZED ({_NEXT_BLACKOUTS}),
    blocked_target AS MATERIALIZED (
        SELECT id FROM target WHERE exclusive_leases > 0 OR cooling_until > :now
        UNION SELECT subject_id FROM drain WHERE kind = 'target'
        -- A load that no signal ends may write there as soon as its storage answers again.
        UNION SELECT target_id FROM stuck_order JOIN run ON run.id = run_id JOIN cell_target USING (cell_id)
              JOIN target ON target.id = target_id WHERE scope = 'shared'
    ),
    owner AS (
        SELECT min(owner_id) AS id FROM line_place
        UNION ALL
        SELECT (SELECT min(owner_id) FROM line_place WHERE owner_id > owner.id) FROM owner WHERE owner.id IS NOT NULL
    ),
    each_owner AS MATERIALIZED (
        SELECT CASE WHEN count(id) > 1 THEN :heads_of_owner ELSE :heads END AS heads FROM owner
    ),
    -- What is common to all nodes of a cluster: whose runs wait, and how far they stand back.
    share AS MATERIALIZED (
        SELECT cluster.id AS cluster_id, owner.id AS owner_id,
               coalesce(fair_share.stands_back_seconds, 0) AS stands_back_seconds,
               blackouts.starts_at AS blackout_at
        FROM cluster CROSS JOIN owner LEFT JOIN blackouts ON blackouts.cluster_id = cluster.id
        LEFT JOIN fair_share ON fair_share.cluster_id = cluster.id AND fair_share.owner_id = owner.id
        WHERE owner.id IS NOT NULL AND cluster.exclusive_leases = 0
          AND (cluster.cooling_until IS NULL OR cluster.cooling_until <= :now)
          AND (blackouts.starts_at IS NULL OR blackouts.starts_at > :now)
          AND NOT EXISTS (SELECT FROM drain WHERE kind = 'all' OR (kind = 'cluster' AND subject_id = cluster.id))
    ),
    -- A comparison with the clock as a value: as a condition the planner, whose statistics are always older, expects
    -- that it holds for no row.
    node_now AS MATERIALIZED (
        SELECT node.id, node.cluster_id, slots,
               retired_at IS NULL AND problem IS NULL AND stuck IS NULL AND coalesce(seen_at >= :heard_after, false)
                   AND drain.subject_id IS NULL AS is_usable,
               exclusive_leases = 0 AND shared_leases < slots AND coalesce(cooling_until <= :now, true) AS has_room
        FROM node LEFT JOIN node_beat ON node_beat.node_id = node.id
        LEFT JOIN drain ON drain.kind = 'node' AND drain.subject_id = node.id
    ),
    -- Nodes on which nothing starts, or of which nobody knows when their run ends.
    unusable AS MATERIALIZED (
        SELECT id AS node_id FROM node_now WHERE NOT is_usable
        UNION ALL
        SELECT node_id FROM node_order JOIN node_now ON node_now.id = node_id AND NOT has_room
        WHERE silent_since IS NOT NULL AND role = 'load'
        UNION ALL
        SELECT node_id FROM run JOIN node_order ON node_order.run_id = run.id AND node_order.state <> 'ended'
             AND role = 'load'
        JOIN node_now ON node_now.id = node_id AND NOT has_room WHERE run.overdue
        UNION ALL
        SELECT node_id FROM queued_job JOIN node_order ON node_order.attempt_id = queued_job.attempt_id
             AND node_order.state <> 'ended' AND role = 'load'
        JOIN node_now ON node_now.id = node_id AND NOT has_room
    ),
    -- What does not start on a node where other runs do; a gang is skipped in the lines of its other nodes too.
    unfit AS MATERIALIZED (
        SELECT node_id, scope, target_ids, exclusive, workload_id, cell_id FROM ({DECLINED}) AS declined
        UNION ALL
        SELECT node_id, 'targets', ARRAY[target_id], NULL, NULL, NULL FROM target_mount WHERE problem IS NOT NULL
    )
    -- As lists, since so many rows cost more to read than to find.
    SELECT array_agg(line.id), array_agg(line.slots = 1), array_agg(first.run_id), array_agg(first.place_key)
           {{besides}}
    FROM {{lines}} AS line CROSS JOIN LATERAL (
        SELECT own.run_id, own.sort_key + share.stands_back_seconds AS place_key
        FROM share CROSS JOIN LATERAL (
            SELECT place.run_id, place.sort_key FROM line_place AS place
            WHERE place.node_id = line.id AND place.owner_id = share.owner_id
              AND place.sort_key <= :horizon - share.stands_back_seconds
              AND (place.not_before IS NULL OR place.not_before <= :now)
              -- Most runs load one target, and that is looked up by its hash; to compare arrays costs far more.
              AND coalesce(place.target_ids[1], 0) NOT IN (SELECT id FROM blocked_target)
              AND (cardinality(place.target_ids) < 2 OR NOT place.target_ids && ARRAY(SELECT id FROM blocked_target))
              AND (CAST(:all_fit AS boolean) OR NOT (EXISTS (SELECT FROM unusable) OR EXISTS (SELECT FROM unfit))
                  OR NOT EXISTS (SELECT FROM line_place AS other WHERE other.run_id = place.run_id
                    AND (other.node_id IN (SELECT node_id FROM unusable) OR {MEETS_UNFIT})))
              AND (share.blackout_at IS NULL OR EXISTS (
                  SELECT FROM run WHERE run.id = place.run_id
                  AND :now + (run.time_limit_seconds + :start_seconds) * interval '1 s' < share.blackout_at))
            ORDER BY place.sort_key, place.run_id LIMIT (SELECT heads FROM each_owner)
        ) AS own
        WHERE share.cluster_id = line.cluster_id ORDER BY place_key, own.run_id LIMIT :heads
    ) AS first
    """  # noqa: S608 - made of the constants above
)
_ALL_HEADS = text(
    _HEADS.format(
        lines="(SELECT * FROM node_now WHERE is_usable AND has_room)",
        besides=", (SELECT array_agg(id) FROM node_now WHERE is_usable AND has_room),"
        " NOT EXISTS (SELECT FROM unusable) AND NOT EXISTS (SELECT FROM unfit)",
    )
)
_HEADS_OF_SOME = text(_HEADS.format(lines="(SELECT * FROM node WHERE id = ANY(:node_ids))", besides=""))
_DEMANDS = text(
    """
    SELECT run.id, run.exclusive, run.cluster_id, run.time_limit_seconds, run.cool_down_seconds,
           CASE WHEN campaign_window.campaign_id IS NOT NULL THEN run.campaign_id END, nodes.ids, target.ids
    FROM run
    CROSS JOIN LATERAL (SELECT array_agg(node_id) AS ids FROM cell_node WHERE cell_node.cell_id = run.cell_id) AS nodes
    CROSS JOIN LATERAL (
        SELECT shared_target_ids AS ids FROM line_place WHERE line_place.run_id = run.id LIMIT 1
    ) AS target
    LEFT JOIN campaign_window ON campaign_window.campaign_id = run.campaign_id
    WHERE run.id = ANY(:run_ids)
    """
)
_START_BY = text("SELECT campaign_id, start_by FROM campaign_window WHERE campaign_id = ANY(:campaign_ids)")
_BLACKOUTS = text(_NEXT_BLACKOUTS)
_OCCUPANCY = text(
    # A node has a lease for each order that loads it. Of targets and clusters, which many share, the ends of leases are
    # read only where somebody wants to be alone there.
    f"""
    WITH {_QUEUED_JOB}
    SELECT array_agg(kind), array_agg(id), array_agg(shared_leases), array_agg(exclusive_leases), array_agg(slots),
           array_agg(CASE WHEN shared_leases + exclusive_leases = 0 THEN cooling_until
                          WHEN until IS NOT NULL THEN greatest(until, cooling_until) END),
           array_agg(cooling_until)
    FROM (
        SELECT 'node' AS kind, node.id, shared_leases, exclusive_leases, slots,
               CASE WHEN cooling_until > :now THEN cooling_until END AS cooling_until, leased.until
        FROM node CROSS JOIN LATERAL (
            SELECT {_UNTIL} FROM node_order JOIN run ON run.id = node_order.run_id
            WHERE node_order.node_id = node.id AND node_order.state <> 'ended' AND role = 'load'
        ) AS leased
        WHERE node.id = ANY(:node_ids)
        UNION ALL
        SELECT counted.kind, counted.id, shared_leases, exclusive_leases, NULL,
               CASE WHEN cooling_until > :now THEN cooling_until END, leased.until
        FROM (
            SELECT 'target' AS kind, id, shared_leases, exclusive_leases, cooling_until FROM target
            WHERE id = ANY(:target_ids)
            UNION ALL
            SELECT 'cluster', id, shared_leases, exclusive_leases, cooling_until FROM cluster
            WHERE id = ANY(:cluster_ids)
        ) AS counted CROSS JOIN LATERAL (
            SELECT {_UNTIL} FROM lease
            JOIN node_order ON node_order.id = lease.order_id JOIN run ON run.id = node_order.run_id
            WHERE lease.active AND resource_kind = counted.kind AND resource_id = counted.id
              AND (exclusive_leases > 0 OR counted.id = ANY(CASE counted.kind WHEN 'target' THEN
                   CAST(:target_ids_alone AS bigint[]) ELSE CAST(:cluster_ids_alone AS bigint[]) END))
        ) AS leased
    ) AS taken
    """  # noqa: S608 - made of the constants above
)
# Sorts and joins of ten thousand lines stay in memory; the usual 4 MB would spill them.
_MEMORY = text("SET LOCAL work_mem = '64MB'")


@dataclass(frozen=True, slots=True)
class Candidates:
    """The runs that a pass looks at.

    Attributes:
        counted_node_ids: those of their nodes that are taken or have several slots; the others are free for one.
    """

    waiting: Sequence[WaitingRun]
    counted_node_ids: Collection[int]


class _Heads(NamedTuple):
    """Places near the heads of the lines of nodes that have room, as columns: those of one line follow each other.

    Attributes:
        is_idle: the node takes one run at a time and so is idle.
        keys: by which the runs are served.
    """

    node_ids: Sequence[int]
    is_idle: Sequence[bool]
    run_ids: Sequence[int]
    keys: Sequence[float]

    @classmethod
    def of(cls, columns: Iterable[Sequence[Any] | None]) -> Self:
        """What a statement found; a column of no rows is None."""
        node_ids, is_idle, run_ids, keys = (column or () for column in columns)
        return cls(node_ids, is_idle, run_ids, keys)

    def with_again(self, full: Collection[int], again: Self) -> Self:
        """The lines of these nodes alone, and those that were read again."""
        chosen = [node_id in full for node_id in self.node_ids]
        return self.of([*compress(before, chosen), *after] for before, after in zip(self, again, strict=True))

    def ends_of_full(self) -> dict[int, float]:
        """By node the key of the last head of each line that has all of them."""
        last = dict(zip(self.node_ids, self.keys, strict=True))
        return {node_id: last[node_id] for node_id, heads in Counter(self.node_ids).items() if heads == HEADS_OF_A_LINE}


@dataclass(frozen=True, slots=True)
class _Known:
    """What never changes of a run while it waits.

    Attributes:
        is_gang: it wants several nodes.
        windowed_campaign_id: its campaign, where that has windows.
    """

    demand: Demand
    node_ids: frozenset[int]
    is_gang: bool
    cluster_id: int
    windowed_campaign_id: int | None


class Lines:
    """The lines of waiting runs as pass after pass reads them.

    Most runs at the heads of lines were there a pass ago: what they need is remembered, and where they stand is read.
    PostgreSQL reads a page of the index on to its end, whoever needs its first places alone. So it is told how far back
    the heads of the lines reached a pass ago, and what has fewer heads up to there is read once more.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._horizon = inf

    def candidates(self, session: Session, now: datetime) -> Candidates:
        """The runs at the heads of the lines of nodes that have room."""
        session.execute(_MEMORY)
        heads = self._heads(session, now)
        self._learn(session, set(heads.run_ids))
        known = self._known
        keys = _served(heads, known)
        start_by = _start_by(session, {run_id: known[run_id] for run_id in keys}, now)
        waiting = [WaitingRun(key, run_id, known[run_id].demand, start_by.get(run_id)) for run_id, key in keys.items()]
        counted = set(compress(heads.node_ids, map(not_, heads.is_idle)))
        counted.update(*(known[run_id].node_ids for run_id in keys if known[run_id].is_gang))
        return Candidates(waiting, counted.difference(compress(heads.node_ids, heads.is_idle)))

    def confirmed(self, session: Session, runs: Sequence[WaitingRun]) -> list[WaitingRun]:
        """Those of the runs that still need what they were remembered to; none of them is remembered any more.

        By what a run needs its leases are taken, and it may have left its lines and come again unseen: in the hands of
        another scheduler, and with another scope of its target. It is looked at anew in the next pass.
        """
        for run in runs:
            del self._known[run.run_id]
        now = _read(session, [run.run_id for run in runs])
        return [run for run in runs if run.run_id in now and now[run.run_id].demand == run.demand]

    def _heads(self, session: Session, now: datetime) -> _Heads:
        values = {
            "now": now,
            "heard_after": now - SILENT_AFTER,
            "start_seconds": START_TAKES.total_seconds(),
            "heads": HEADS_OF_A_LINE,
            "heads_of_owner": HEADS_OF_AN_OWNER,
        }
        asked = {**values, "horizon": self._horizon, "all_fit": False}
        *columns, node_ids, all_fit = session.execute(_ALL_HEADS, asked).one()
        heads = _Heads.of(columns)
        full = heads.ends_of_full()
        node_count = len(node_ids or ())
        if self._horizon < inf and len(full) < node_count:
            short = [node_id for node_id in node_ids if node_id not in full]
            asked = {**values, "horizon": inf, "all_fit": all_fit, "node_ids": short}
            again = _Heads.of(session.execute(_HEADS_OF_SOME, asked).one())
            heads = heads.with_again(full, again)
            full |= again.ends_of_full()
        bounded = ceil(BOUNDED_LINES * node_count)
        self._horizon = sorted(full.values())[bounded - 1] if 0 < bounded <= len(full) else inf
        return heads

    def _learn(self, session: Session, run_ids: set[int]) -> None:
        for run_id in set(self._known).difference(run_ids):
            del self._known[run_id]
        self._known |= _read(session, run_ids.difference(self._known))


def _read(session: Session, run_ids: Collection[int]) -> dict[int, _Known]:
    found: dict[int, _Known] = {}
    rows = session.execute(_DEMANDS, {"run_ids": list(run_ids)}) if run_ids else ()
    for run_id, exclusive, cluster_id, limit, cool_down, campaign_id, nodes, targets in rows:
        taken = needs(_EXCLUSIVITIES[exclusive], nodes, targets, cluster_id)
        found[run_id] = _Known(
            Demand.of(taken, limit, cool_down), frozenset(nodes), len(nodes) > 1, cluster_id, campaign_id
        )
    return found


def _served(heads: _Heads, known: Mapping[int, _Known]) -> dict[int, float]:
    """Which runs are looked at, and the keys of their places.

    A gang that waits for a node is of no account in a line in which an earlier one does, and keeps the line's node
    already from no later moment. A node has room if it has a head at all: what cannot start in one of its lines can
    start in none.
    """
    keys = dict(zip(heads.run_ids, heads.keys, strict=True))
    for gone in keys.keys() - known.keys():
        del keys[gone]
    has_room = set(heads.node_ids)
    lacking = {run_id for run_id in keys if known[run_id].is_gang and not known[run_id].node_ids <= has_room}
    kept: dict[int, tuple[float, int]] = {}
    for node_id, run_id, key in zip(heads.node_ids, heads.run_ids, heads.keys, strict=True):
        if run_id in lacking and (node_id not in kept or (key, run_id) < kept[node_id]):
            kept[node_id] = (key, run_id)
    lacking.difference_update([run_id for _, run_id in kept.values()])
    return {run_id: key for run_id, key in keys.items() if run_id not in lacking}


def _start_by(session: Session, runs: Mapping[int, _Known], now: datetime) -> dict[int, datetime]:
    """When it is too late for a run, by the windows of its campaign and the next blackout of its cluster, if it is."""
    campaign_ids = {known.windowed_campaign_id for known in runs.values()} - {None}
    windows = session.execute(_START_BY, {"campaign_ids": list(campaign_ids)}).all() if campaign_ids else ()
    ends: dict[int | None, datetime] = {row[0]: row[1] for row in windows}
    blackouts = {row[0]: row[1] for row in session.execute(_BLACKOUTS, {"now": now})}
    found: dict[int, datetime] = {}
    for run_id, known in runs.items() if ends or blackouts else ():
        moments = [ends[known.windowed_campaign_id]] if known.windowed_campaign_id in ends else []
        if known.cluster_id in blackouts:
            takes = timedelta(seconds=known.demand.time_limit_seconds) + START_TAKES
            moments.append(blackouts[known.cluster_id] - takes)
        if moments:
            found[run_id] = min(moments)
    return found


def occupancy(session: Session, found: Candidates, now: datetime) -> dict[Resource, Occupancy]:
    """How what these runs need is taken now, and until when at the latest; without the nodes that are simply free.

    All of it can be counted on, or its runs would be no candidates.
    """
    shared: set[Need] = set().union(*(run.demand.elsewhere for run in found.waiting))
    ids = {kind: {need.resource.id for need in shared if need.resource.kind is kind} for kind in ResourceKind}
    alone = [need.resource for need in shared if need.mode is Mode.EXCLUSIVE]
    columns = session.execute(
        _OCCUPANCY,
        {
            "now": now,
            "node_ids": list(found.counted_node_ids),
            "target_ids": list(ids[ResourceKind.TARGET]),
            "cluster_ids": list(ids[ResourceKind.CLUSTER]),
            "target_ids_alone": [resource.id for resource in alone if resource.kind is ResourceKind.TARGET],
            "cluster_ids_alone": [resource.id for resource in alone if resource.kind is ResourceKind.CLUSTER],
        },
    ).one()
    kinds, resource_ids, shared_leases, exclusive_leases, slots, free_from, cooling = (
        column or () for column in columns
    )
    return dict(
        zip(
            (KNOWN_RESOURCES[kind][resource_id] for kind, resource_id in zip(kinds, resource_ids, strict=True)),
            map(Occupancy, shared_leases, exclusive_leases, slots, free_from, cooling),
            strict=True,
        )
    )
