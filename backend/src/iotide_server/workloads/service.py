"""The catalogue of workloads, as agents announce it and campaigns use it."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sqlalchemy.orm import Session

from iotide_server.accounts.principal import Principal
from iotide_server.kit.pagination import PageRequest, Slice
from iotide_server.workloads import repository
from iotide_server.workloads.errors import WorkloadDiffersError, WorkloadNotFoundError, WorkloadUnavailableError
from iotide_server.workloads.models import NodeWorkload, Workload, WorkloadBaseline
from iotide_server.workloads.options import check_schema, complete_options, is_by_option
from iotide_server.workloads.repository import NodesAlike
from iotide_wire.catalogue import WorkloadAnnouncement


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A workload and the nodes that have it."""

    workload: Workload
    nodes: Sequence[NodesAlike]


def announce(session: Session, node_id: int, announcements: Sequence[WorkloadAnnouncement]) -> None:
    """Take down what a node can run now; what it announced before and does not any more is gone.

    Raises:
        InvalidInputError: a schema cannot be used.
    """
    rows: dict[int, NodeWorkload] = {}
    for announced in sorted(announcements, key=lambda workload: workload.name):
        check_schema(announced.options_schema, f"workloads.{announced.name}.options_schema")
        workload_id = repository.upsert_workload(session, _row(announced))
        repository.freeze_baseline(session, announced.name, announced.option_defaults)
        rows[workload_id] = NodeWorkload(
            node_id=node_id,
            workload_id=workload_id,
            available=announced.available,
            unavailable_because=announced.unavailable_because,
            tool_version=announced.tool_version,
        )
    repository.replace_node_workloads(session, node_id, rows.values())


def ensure(session: Session, announced: WorkloadAnnouncement) -> Workload:
    """The workload in the catalogue, though no node announces it."""
    workload_id = repository.upsert_workload(session, _row(announced))
    repository.freeze_baseline(session, announced.name, announced.option_defaults)
    return session.get_one(Workload, workload_id)


def catalogue(
    session: Session,
    principal: Principal,
    cluster_id: int | None,
    paging: PageRequest,
    *,
    with_former: bool = False,
) -> Slice[CatalogueEntry]:
    """The workloads on living nodes that the caller may see, with these nodes; none for those of campaigns alone."""
    visible = principal.visible_clusters()
    page = repository.catalogue(session, visible, cluster_id, paging, with_former=with_former)
    nodes = repository.nodes_of(session, [workload.id for workload in page.rows], visible, cluster_id)
    return Slice([CatalogueEntry(workload, nodes.get(workload.id, [])) for workload in page.rows], page.next_cursor)


def workload_for(session: Session, name: str, node_ids: Collection[int], *, field: str | None = None) -> Workload:
    """The one workload of that name that all these nodes can run.

    Args:
        field: where the name stands in the request, for the errors.

    Raises:
        WorkloadNotFoundError: none of the nodes has it.
        WorkloadUnavailableError: a node does not have it, or lacks its tool.
        WorkloadDiffersError: nodes have it in different versions.
    """
    rows = repository.availability(session, node_ids)
    offered = {row.node_id: row for row in rows if row.workload.name == name}
    if not offered:
        raise WorkloadNotFoundError(name, {row.workload.name for row in rows}, field)
    reasons = {
        node_name: _why_not(offered.get(node_id))
        for node_id, node_name in repository.node_names(session, node_ids).items()
        if node_id not in offered or not offered[node_id].available
    }
    if reasons:
        raise WorkloadUnavailableError(name, reasons, field)
    versions = _nodes_by_version(list(offered.values()))
    if len(versions) > 1:
        raise WorkloadDiffersError(name, versions, field)
    return next(iter(offered.values())).workload


def validated_options(workload: Workload, options: Mapping[str, Any], *, field: str = "options") -> dict[str, Any]:
    """All options of the workload in base units, defaults filled in.

    Args:
        field: where the options stand in the request, for the error.

    Raises:
        InvalidInputError: an option is unknown, missing, of the wrong type or out of its range.
    """
    return complete_options(workload.options_schema, workload.option_defaults, options, field)


def validated_sweep(
    workload: Workload, options: Mapping[str, Any], sweep: Mapping[str, Sequence[Any]], *, field: str = "options"
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return all options with the first value of each swept one, and all swept values, in base units.

    Each value is validated once, where the schema says of each option by itself what it may be.

    Args:
        sweep: the last option changes fastest.

    Raises:
        InvalidInputError: as `validated_options` of the first combination that is refused.
    """
    first = {**options, **{name: values[0] for name, values in sweep.items()}}
    completed = validated_options(workload, first, field=field)
    if not is_by_option(workload.options_schema):
        for values in product(*sweep.values()):
            validated_options(workload, {**first, **dict(zip(sweep, values, strict=True))}, field=field)
    swept: dict[str, list[Any]] = {name: [completed[name]] for name in sweep}
    for name in reversed(
        list(sweep)
    ):  # so that the first value that is refused is one of the first combination with any
        for value in sweep[name][1:]:
            swept[name].append(validated_options(workload, {**first, name: value}, field=field)[name])
    return completed, swept


def baseline(session: Session, name: str) -> WorkloadBaseline:
    """What was frozen of a workload that has been announced."""
    return session.get_one(WorkloadBaseline, name)


def series_options(baseline: WorkloadBaseline, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are part of a series key: those that differ from the frozen defaults, sorted by name."""
    frozen = baseline.option_defaults
    return {name: options[name] for name in sorted(options) if name not in frozen or options[name] != frozen[name]}


def _why_not(offered: repository.Availability | None) -> str:
    if offered is None:
        return "its agent does not have it"
    return offered.unavailable_because or "its agent calls it unavailable"


def _nodes_by_version(offered: Sequence[repository.Availability]) -> dict[str, list[str]]:
    nodes: defaultdict[str, list[str]] = defaultdict(list)
    for row in offered:
        nodes[f"revision {row.workload.revision} ({row.workload.schema_sha256[:8]})"].append(row.node_name)
    return dict(nodes)


def _row(announced: WorkloadAnnouncement) -> dict[str, Any]:
    columns = {
        "name",
        "revision",
        "title",
        "description",
        "options_schema",
        "option_defaults",
        "metrics",
        "bytes_needed",
        "bytes_moved",
        "run_seconds",
        "breaks_series",
        "step_roles",
        "tool",
    }
    return announced.model_dump(mode="json", include=columns) | {"schema_sha256": announced.schema_sha256}
