"""What can go wrong with workloads."""

from collections.abc import Collection, Mapping

from iotide_server.kit.errors import ConflictError, NotFoundError
from iotide_server.kit.suggest import choose_from


class WorkloadNotFoundError(NotFoundError):
    """No node that is meant announced such a workload."""

    code = "workload_not_found"

    def __init__(self, name: str, known: Collection[str], field: str | None) -> None:
        super().__init__(
            f"there is no workload {name} on these nodes", field=field, value=name, remedy=choose_from(name, known)
        )


class WorkloadDiffersError(ConflictError):
    """Nodes have different versions of a workload, whose results would not be comparable."""

    code = "workload_differs"

    def __init__(self, name: str, nodes_by_version: Mapping[str, Collection[str]], field: str | None) -> None:
        versions = "; ".join(f"{version} on {', '.join(nodes)}" for version, nodes in nodes_by_version.items())
        super().__init__(
            f"the nodes have different versions of {name}: {versions}",
            field=field,
            value=name,
            remedy="bring the agents to one version, or submit a campaign for each",
        )


class WorkloadUnavailableError(ConflictError):
    """A node cannot run a workload."""

    code = "workload_unavailable"

    def __init__(self, name: str, reasons: Mapping[str, str], field: str | None) -> None:
        told = "; ".join(f"{node}: {reason}" for node, reason in reasons.items())
        super().__init__(
            f"{name} cannot run on {', '.join(reasons)}",
            field=field,
            value=name,
            remedy=f"{told}; or leave these nodes out",
        )
