"""Errors of the agents' requests: about orders that they may not have, their identity, and reports."""

from iotide_server.kit.errors import ErrorKind

ORDER_NOT_FOUND = ErrorKind(404, "order_not_found", field="order_id").says("this node has no order {order_id}")
STALE_FENCE = ErrorKind(409, "stale_fence", field="fence", shows="").says(
    "order {order_id} has another fence", "forget this offer"
)
ORDER_TAKEN = ErrorKind(409, "order_taken").says(
    "order {order_id} was claimed by another agent process", "forget this offer"
)
ORDER_WITHDRAWN = ErrorKind(409, "order_withdrawn").says(
    "order {order_id} was withdrawn: {reason}", "forget this offer"
)
ORDER_CANCELLED = ErrorKind(409, "order_cancelled").says("order {order_id}: {reason}", "forget this offer")
NOT_A_GATEWAY = ErrorKind(409, "not_a_gateway", field="role").says(
    "{node} is a {role} node and no gateway",
    'write role = "gateway" in its agent.toml and enroll it again with --replace',
)
LAUNCHER_DIFFERS = ErrorKind(409, "launcher_differs", field="system").says(
    "the runs of the cluster {cluster} are started by {launcher}, not by {system}",
    "run `iotide cluster launcher {cluster} {system}`, or correct [batch] in the gateway's agent.toml",
)
SCHEMA_CHANGED = ErrorKind(409, "schema_changed").says(
    "the node has {workload} in another version than when the campaign was submitted", "submit the campaign again"
)
