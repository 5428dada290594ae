"""Errors of agents' requests."""

from iotide_server.kit.errors import ErrorKind

ORDER_NOT_FOUND = ErrorKind(404, "order_not_found", field="order_id").says("this node has no order {order_id}")
STALE_FENCE = ErrorKind(409, "stale_fence", field="fence", shows="").says(
    "order {order_id} has another fence", "discard this offer"
)
ORDER_TAKEN = ErrorKind(409, "order_taken").says(
    "order {order_id} was claimed by another agent process", "discard this offer"
)
ORDER_WITHDRAWN = ErrorKind(409, "order_withdrawn").says(
    "order {order_id} was withdrawn: {reason}", "discard this offer"
)
ORDER_CANCELLED = ErrorKind(409, "order_cancelled").says("order {order_id}: {reason}", "discard this offer")
NOT_A_GATEWAY = ErrorKind(409, "not_a_gateway", field="role").says(
    "{node} is a {role} node, not a gateway",
    'write role = "gateway" in its agent.toml and enroll it again with --replace',
)
LAUNCHER_DIFFERS = ErrorKind(409, "launcher_differs", field="system").says(
    "cluster {cluster} starts its runs with {launcher}, not with {system}",
    "run `iotide cluster launcher {cluster} {system}`, or correct [batch] in the gateway's agent.toml",
)
GANG_WITHOUT_ADDRESS = ErrorKind(409, "gang_without_address").says(
    "{node} has no IPv4 address for the other nodes of the program",
    "set data_address in its agent.toml, restart its agent, and retry the run",
)
SCHEMA_CHANGED = ErrorKind(409, "schema_changed").says(
    "the version of {workload} on the node has changed since the campaign was submitted", "submit the campaign again"
)
