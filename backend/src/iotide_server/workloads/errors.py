"""Errors of workloads."""

from iotide_server.kit.errors import ErrorKind

WORKLOAD_NOT_FOUND = ErrorKind(404, "workload_not_found", shows="name").says(
    "these nodes have no workload {name}", "{remedy}"
)
WORKLOAD_DIFFERS = ErrorKind(409, "workload_differs", shows="name").says(
    "the nodes have different versions of {name}: {versions:clauses}",
    "upgrade the agents to one version, or submit a campaign for each version",
)
WORKLOAD_UNAVAILABLE = ErrorKind(409, "workload_unavailable", shows="name").says(
    "{name} cannot run on {nodes:names}", "{reasons:clauses}; or remove these nodes"
)
