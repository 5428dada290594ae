"""Heads of the node queues, and the occupancy of the resources that they need."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import compress
from math import ceil, inf
from operator import not_
from typing import Any, Final, NamedTuple, Self

from sqlalchemy.orm import Session

from iotide_server.clusters.maintenance import START_TAKES
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.runs.resources import KNOWN_RESOURCES, Mode, Need, Occupancy, Resource, ResourceKind, needs
from iotide_server.scheduling import queue_queries as queries
from iotide_server.scheduling.matching import Demand, WaitingRun
from iotide_wire.plan import Exclusivity

HEADS_OF_A_QUEUE = 4
"""Runs read from a node's queue in a pass: while the first waits for other nodes, the next may start."""
HEADS_OF_AN_OWNER = 2
"""Limit per owner if several wait, so that no owner hides others' runs."""

_EXCLUSIVITIES: Final = {exclusivity.value: exclusivity for exclusivity in Exclusivity}

BOUNDED_QUEUES = 0.95
"""The next pass reads up to the key before which this share of the queues had all their heads."""


@dataclass(frozen=True, slots=True)
class Candidates:
    waiting: Sequence[WaitingRun]
    # their nodes that are taken or have several slots; each of the others is free for one run
    counted_node_ids: Collection[int]


class _Heads(NamedTuple):
    """Heads of the queues of nodes with room, as columns. Heads of one queue are adjacent."""

    node_ids: Sequence[int]
    is_idle: Sequence[bool]
    run_ids: Sequence[int]
    keys: Sequence[float]

    @classmethod
    def of(cls, columns: Iterable[Sequence[Any] | None]) -> Self:
        node_ids, is_idle, run_ids, keys = (column or () for column in columns)
        return cls(node_ids, is_idle, run_ids, keys)

    def with_again(self, full: Collection[int], again: Self) -> Self:
        chosen = [node_id in full for node_id in self.node_ids]
        return self.of([*compress(before, chosen), *after] for before, after in zip(self, again, strict=True))

    def ends_of_full(self) -> dict[int, float]:
        last = dict(zip(self.node_ids, self.keys, strict=True))
        return {
            node_id: last[node_id] for node_id, heads in Counter(self.node_ids).items() if heads == HEADS_OF_A_QUEUE
        }


@dataclass(frozen=True, slots=True)
class _Known:
    """Constant while the run waits."""

    demand: Demand
    node_ids: frozenset[int]
    is_gang: bool
    cluster_id: int
    windowed_campaign_id: int | None  # its campaign, if that has windows


class NodeQueues:
    """Queues of waiting runs, read in each pass.

    Most heads were heads before, so their needs are cached. PostgreSQL reads an index page to its end even for its
    first rows, so a pass reads only to where the heads ended in the previous pass, and short queues a second time.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._horizon = inf

    def candidates(self, session: Session, now: datetime) -> Candidates:
        session.execute(queries.MEMORY)
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
        # Another scheduler may have started a run and requeued it with another scope of its target.
        for run in runs:
            del self._known[run.run_id]
        now = _read(session, [run.run_id for run in runs])
        return [run for run in runs if run.run_id in now and now[run.run_id].demand == run.demand]

    def _heads(self, session: Session, now: datetime) -> _Heads:
        values = {
            "now": now,
            "seen_after": now - SILENT_AFTER,
            "start_seconds": START_TAKES.total_seconds(),
            "heads": HEADS_OF_A_QUEUE,
            "heads_of_owner": HEADS_OF_AN_OWNER,
        }
        asked = {**values, "horizon": self._horizon, "all_fit": False}
        *columns, node_ids, all_fit = session.execute(queries.ALL_HEADS, asked).one()
        heads = _Heads.of(columns)
        full = heads.ends_of_full()
        node_count = len(node_ids or ())
        if self._horizon < inf and len(full) < node_count:
            short = [node_id for node_id in node_ids if node_id not in full]
            asked = {**values, "horizon": inf, "all_fit": all_fit, "node_ids": short}
            again = _Heads.of(session.execute(queries.HEADS_OF_SOME, asked).one())
            heads = heads.with_again(full, again)
            full |= again.ends_of_full()
        bounded = ceil(BOUNDED_QUEUES * node_count)
        self._horizon = sorted(full.values())[bounded - 1] if 0 < bounded <= len(full) else inf
        return heads

    def _learn(self, session: Session, run_ids: set[int]) -> None:
        for run_id in set(self._known).difference(run_ids):
            del self._known[run_id]
        self._known |= _read(session, run_ids.difference(self._known))


def _read(session: Session, run_ids: Collection[int]) -> dict[int, _Known]:
    found: dict[int, _Known] = {}
    rows = session.execute(queries.DEMANDS, {"run_ids": list(run_ids)}) if run_ids else ()
    for run_id, exclusive, cluster_id, limit, cool_down, campaign_id, nodes, targets in rows:
        taken = needs(_EXCLUSIVITIES[exclusive], nodes, targets, cluster_id)
        found[run_id] = _Known(
            Demand.of(taken, limit, cool_down), frozenset(nodes), len(nodes) > 1, cluster_id, campaign_id
        )
    return found


def _served(heads: _Heads, known: Mapping[int, _Known]) -> dict[int, float]:
    # Of gangs that wait for other nodes, each queue keeps the first: a later one would reserve the node no earlier. A
    # node has room if its queue has a head.
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
    campaign_ids = {known.windowed_campaign_id for known in runs.values()} - {None}
    windows = session.execute(queries.START_BY, {"campaign_ids": list(campaign_ids)}).all() if campaign_ids else ()
    ends: dict[int | None, datetime] = {row[0]: row[1] for row in windows}
    maintenance_starts = {row[0]: row[1] for row in session.execute(queries.MAINTENANCE_WINDOWS, {"now": now})}
    found: dict[int, datetime] = {}
    for run_id, known in runs.items() if ends or maintenance_starts else ():
        moments = [ends[known.windowed_campaign_id]] if known.windowed_campaign_id in ends else []
        if known.cluster_id in maintenance_starts:
            takes = timedelta(seconds=known.demand.time_limit_seconds) + START_TAKES
            moments.append(maintenance_starts[known.cluster_id] - takes)
        if moments:
            found[run_id] = min(moments)
    return found


def occupancy(session: Session, found: Candidates, now: datetime) -> dict[Resource, Occupancy]:
    shared: set[Need] = set().union(*(run.demand.elsewhere for run in found.waiting))
    ids = {kind: {need.resource.id for need in shared if need.resource.kind is kind} for kind in ResourceKind}
    alone = [need.resource for need in shared if need.mode is Mode.EXCLUSIVE]
    columns = session.execute(
        queries.OCCUPANCY,
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
