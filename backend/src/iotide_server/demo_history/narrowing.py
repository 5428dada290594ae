"""Part of the sample data, where less than all of it is needed."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from iotide_server.demo_history.errors import NotInHistoryError
from iotide_server.demo_history.sites import SITES, Routine, SampleCluster


def narrowed(clusters: Collection[str] = (), workloads: Collection[str] = ()) -> tuple[SampleCluster, ...]:
    """The clusters of these names with the routines of these workloads; no name: all. Their numbers stay as they are.

    Raises:
        NotInHistoryError: nothing is called so there.
    """
    _require("cluster", clusters, {site.name for site in SITES})
    chosen = [site for site in SITES if not clusters or site.name in clusters]
    _require("workload", workloads, {load.workload for site in chosen for one in site.routines for load in one.loads})
    return tuple(replace(site, routines=tuple(_narrowed_routines(site, workloads))) for site in chosen)


def _narrowed_routines(site: SampleCluster, workloads: Collection[str]) -> Iterator[Routine]:
    for routine in site.routines:
        loads = tuple(load for load in routine.loads if not workloads or load.workload in workloads)
        if loads:
            yield replace(routine, loads=loads)


def _require(what: str, names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise NotInHistoryError(what, name, known)
