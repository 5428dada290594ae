"""Attention list: tasks for operators and admins."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row

from iotide_server.clusters.agents.stuck import loads_in
from iotide_server.kit.clock import written
from iotide_server.overview.schemas import AttentionKind
from iotide_server.schedules.failing import FailingSchedule, LostMount, names

ORDER: Final[Sequence[AttentionKind]] = (
    *("stuck_node", "vanished_target", "lost_mount"),
    *("failing_schedule", "overdue_schedule", "open_incidents"),
    *("silent_nodes", "outlier_node", "outlier_target", "stale_series"),
)


@dataclass(frozen=True, slots=True)
class Needed:
    kind: AttentionKind
    cluster_id: int
    words: str
    remedy: str
    since: datetime | None
    schedule_id: int | None = None
    target_id: int | None = None
    node_id: int | None = None
    series_id: int | None = None  # newest of several with the same reason
    series_count: int = 0
    workload: str | None = None  # of outliers


@dataclass(frozen=True, slots=True)
class OldIncidents:
    """Open incidents of a cluster that were found more than 90 days ago."""

    cluster_id: int
    count: int
    first_at: datetime


@dataclass(frozen=True, slots=True)
class OpenIncident:
    cluster_id: int
    at: datetime
    workloads: frozenset[str]


@dataclass(frozen=True, slots=True)
class KnownMount:
    cluster_id: int
    target_id: int
    target_name: str
    target_path: str
    # node_id, node_name, path, seen_at: None if all its nodes are retired
    node_id: int | None
    node_name: str | None
    path: str | None
    problem: str | None
    seen_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class StaleSeries:
    """Series that stopped, not on purpose; `alike` counts those with the same reason."""

    series_id: int
    cluster_id: int
    workload: str
    words: str
    last_at: datetime
    schedule_id: int | None
    alike: int = 1


def in_order(items: Iterable[Needed]) -> list[Needed]:
    return sorted(
        items, key=lambda item: (ORDER.index(item.kind), item.since.timestamp() if item.since else 0.0, item.words)
    )


def of_schedules(failing: Iterable[FailingSchedule]) -> list[Needed]:
    remedy = "fix the cause, then run the schedule now"
    return [
        Needed("failing_schedule", one.cluster_id, one.words, remedy, one.streak.since, schedule_id=one.schedule_id)
        for one in failing
    ]


def of_overdue(rows: Iterable[Row[Any]]) -> list[Needed]:
    remedy = "start the scheduler; iotide-server doctor shows which part is down"
    worded = ((row, f"{row.name} was due at {written(row.due_at)} but has not fired") for row in rows)
    return [
        Needed("overdue_schedule", row.cluster_id, words, remedy, row.due_at, schedule_id=row.id)
        for row, words in worded
    ]


def of_incidents(incidents: Iterable[OpenIncident], old: Iterable[OldIncidents]) -> list[Needed]:
    """Return an item per cluster."""
    by_cluster: defaultdict[int, list[OpenIncident]] = defaultdict(list)
    for one in incidents:
        by_cluster[one.cluster_id].append(one)
    older = {one.cluster_id: one for one in old}
    found: list[Needed] = []
    for cluster_id in sorted({*by_cluster, *older}):
        own, rest = by_cluster[cluster_id], older.get(cluster_id)
        since = min([*(one.at for one in own), *([] if rest is None else [rest.first_at])])
        remedy = "acknowledge or set the cause"
        found.append(Needed("open_incidents", cluster_id, _incident_words(own, rest), remedy, since))
    return found


def _incident_words(own: Sequence[OpenIncident], old: OldIncidents | None) -> str:
    parts: list[str] = []
    if own:
        workloads = names({workload for one in own for workload in one.workloads})
        parts.append(f"{_counted(len(own))} of {workloads}")
    if old is not None:
        number = str(old.count) if own else _counted(old.count)
        parts.append(f"{number} found more than 90 days ago")
    return ", and ".join(parts)


def _counted(incidents: int) -> str:
    return f"{incidents} open {'incident' if incidents == 1 else 'incidents'}"


def of_stuck(rows: Iterable[Row[Any]]) -> list[Needed]:
    found: list[Needed] = []
    for row in rows:
        loads = loads_in(row.stuck)
        words = f"{row.name} is stuck: {'; '.join(load.sentence for load in loads)}"
        remedy = "restore the storage or reboot the node; its page releases the resources that it holds"
        since = min(load.since for load in loads)
        found.append(Needed("stuck_node", row.cluster_id, words, remedy, since, node_id=row.id))
    return found


def of_nodes(rows: Iterable[Row[Any]]) -> list[Needed]:
    found: list[Needed] = []
    for row in rows:
        known = names(set(row.names)) if row.nodes == len(row.names) else f"{row.nodes} nodes"
        verb = "has" if row.nodes == 1 else "have"
        words = f"{known} {verb} {'never sent a' if row.never_seen else 'sent no'} heartbeat"
        remedy = "start the agent there, or retire the node"
        found.append(Needed("silent_nodes", row.cluster_id, words, remedy, row.since, node_id=row.node_id))
    return found


def of_mounts(mounts: Sequence[KnownMount], failing: Iterable[FailingSchedule]) -> list[Needed]:
    """Return an item per target that nodes lost; a mount announced after the run that missed it is present."""
    missed = {(lost.target_id, lost.node_id): lost for one in failing for lost in one.lost_mounts}
    by_target: defaultdict[int, list[KnownMount]] = defaultdict(list)
    for mount in mounts:
        by_target[mount.target_id].append(mount)
    found = (_of_target(own, missed) for own in by_target.values())
    return [item for item in found if item is not None]


def of_stale(stale: Iterable[StaleSeries]) -> list[Needed]:
    groups: defaultdict[tuple[int, str, str], list[StaleSeries]] = defaultdict(list)
    for one in stale:
        groups[one.cluster_id, one.workload, one.words].append(one)
    found: list[Needed] = []
    for (cluster_id, _, words), own in groups.items():
        newest = max(own, key=lambda one: one.series_id)
        remedy = "check its schedule" if newest.schedule_id else "measure it again, or retire its target"
        count, since = sum(one.alike for one in own), max(one.last_at for one in own)
        stopped = Needed("stale_series", cluster_id, words, remedy, since, newest.schedule_id)
        found.append(replace(stopped, series_id=newest.series_id, series_count=count))
    return found


def _of_target(mounts: Sequence[KnownMount], missed: Mapping[tuple[int, int], LostMount]) -> Needed | None:
    first = mounts[0]
    lost = {mount: since for mount in mounts for since in [_lost_since(mount, missed)] if since is not None}
    if not lost:
        return None
    since, path = min(lost.values()), next(iter(lost)).path or first.target_path
    nodes = names({mount.node_name for mount in lost if mount.node_name is not None})
    if len(lost) == len(mounts):
        words = f"{first.target_name} is not mounted on any node" + (f": {path} is missing on {nodes}" if nodes else "")
        remedy = f"mount {first.target_path} on a node again, or retire the target"
        return Needed("vanished_target", first.cluster_id, words, remedy, since, target_id=first.target_id)
    problem = next((mount.problem for mount in lost if mount.problem is not None), None)
    words = f"{path} ({first.target_name}) is not mounted on {nodes}"
    if problem is not None and not problem.startswith("nothing is mounted"):
        words = f"{first.target_name} on {nodes}: {problem.split(';')[0]}"
    remedy = f"mount {path} on {nodes} again, or accept the present mount on the target's page"
    node_id = next(iter(lost)).node_id
    return Needed("lost_mount", first.cluster_id, words, remedy, since, target_id=first.target_id, node_id=node_id)


def _lost_since(mount: KnownMount, missed: Mapping[tuple[int, int], LostMount]) -> datetime | None:
    if mount.node_id is None or mount.problem is not None:
        return mount.seen_at or mount.created_at
    lost = missed.get((mount.target_id, mount.node_id))
    if lost is None or (mount.seen_at is not None and mount.seen_at > lost.last_at):
        return None
    return lost.since
