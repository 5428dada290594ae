"""What can go wrong with workloads."""

from iotide_server.kit.errors import ErrorKind

WORKLOAD_NOT_FOUND = ErrorKind(404, "workload_not_found", shows="name").says(
    "there is no workload {name} on these nodes", "{remedy}"
)
WORKLOAD_DIFFERS = ErrorKind(409, "workload_differs", shows="name").says(
    "the nodes have different versions of {name}: {versions:clauses}",
    "bring the agents to one version, or submit a campaign for each",
)
WORKLOAD_UNAVAILABLE = ErrorKind(409, "workload_unavailable", shows="name").says(
    "{name} cannot run on {nodes:names}", "{reasons:clauses}; or leave these nodes out"
)
