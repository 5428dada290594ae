"""What can go wrong with clusters, nodes and their agents."""

from iotide_server.kit.errors import (
    ErrorKind,
    IotideError,
)
from iotide_wire.versions import SPOKEN_VERSIONS, STRANGE_VERSION, named

CLUSTER_NOT_FOUND = ErrorKind(404, "cluster_not_found", field="cluster_id", shows="cluster").says(
    "there is no cluster {cluster}"
)
CLUSTER_NAME_TAKEN = ErrorKind(409, "cluster_name_taken", field="name").says(
    "there is a cluster {name} already", "choose another name"
)
CLUSTER_MADE_UP = ErrorKind(409, "cluster_made_up", field="cluster", shows="name").says(
    "the cluster {name} holds sample data, and nothing runs on it",
    "name a cluster of your own; `iotide-server forget-demo-history` removes all sample data",
)
CLUSTER_BUSY = ErrorKind(409, "cluster_busy", field="launcher").says(
    "{run_count} runs are active in the cluster {name}", "drain the cluster and let them end, or cancel them"
)
NODE_NOT_FOUND = ErrorKind(404, "node_not_found", field="node_id", shows="node").says("there is no node {node}")
NODE_NAME_TAKEN = ErrorKind(409, "node_name_taken", field="node_name", shows="name").says(
    "the cluster has a node {name} already",
    "if it is the same host, let it enroll again with a token from the node's page; else give another name as"
    " node_name in its agent.toml, or retire the old node first",
)
NODE_PENDING = ErrorKind(403, "node_pending", field="node_token", shows="").says(
    "node {name} waits to be let in, until {until:time}",
    "have an administrator of the cluster approve it on the cluster's page, where the fingerprint of its token"
    " must be {fingerprint}",
)
PENDING_NODE_NOT_FOUND = ErrorKind(404, "pending_node_not_found", field="{field}", shows="pending_id").says(
    "no host {pending_id} waits to be let into this cluster"
)
ROTATION_NOT_WANTED = ErrorKind(409, "rotation_not_wanted").says(
    "node {node_id} is not to have new credentials", "go on with the present ones"
)
ROTATION_IMPOSSIBLE = ErrorKind(409, "rotation_impossible", field="node_id", shows="node").says(
    "node {node} {because}", "{remedy}"
)
NODE_IN_USE = ErrorKind(409, "node_in_use", field="join_token", shows="").says(
    "node {node} has claimed orders of the runs {run_ids:sorted} and may load for them",
    "let them end, or call the node dead or free it on its page, and enroll again",
)
NODE_BUSY = ErrorKind(409, "node_busy", field="node_id", shows="name").says(
    "{run_count} waiting or active runs need the node {name}",
    "cancel them or let them end first; revoke the node where somebody else may have its token",
)
SLOTS_IN_USE = ErrorKind(409, "slots_in_use", field="slots").says(
    "{used} runs share the node now", "wait for some of them to end"
)
DRAIN_END_PASSED = ErrorKind(422, "drain_end_passed", field="until").says(
    "until: {until} has passed", "give a time to come, or null until somebody resumes it"
)
NODE_NOT_SILENT = ErrorKind(409, "node_not_silent", field="node_id", shows="node").says(
    "node {node} {heard}",
    "a node can be called dead once it was silent for {silent_after:seconds}; cancel the runs of one that speaks, or"
    " drain it",
)
NODE_NOT_STUCK = ErrorKind(409, "node_not_stuck", field="node_id", shows="node").says(
    "node {node} is not stuck: no load that cannot be killed holds anything there",
    "look at its page; call a silent node dead, and cancel runs of one that is online",
)
HELD_DIFFERS = ErrorKind(409, "held_differs", field="statement_sha256", shows="seen_sha256").says(
    "what would be freed is no longer what the confirmation names",
    "look at the statement again with GET .../stuck and confirm that one",
)
DEATH_DIFFERS = ErrorKind(409, "death_differs", field="statement_sha256", shows="seen_sha256").says(
    "what would be freed and ended is no longer what the confirmation names",
    "look at the statement again with GET .../dead and confirm that one",
)
JOIN_TOKEN_REFUSED = ErrorKind(401, "join_token_refused", field="join_token", shows="").says(
    "the join token is unknown, expired or used up", "make a new one on the cluster's page"
)
JOIN_TOKEN_NOT_FOUND = ErrorKind(404, "join_token_not_found", field="token_id").says(
    "there is no join token {token_id}"
)
WIRE_VERSION_UNSUPPORTED = ErrorKind(409, STRANGE_VERSION, field="wire_version").says(
    "the agent speaks version {wire_version} and this server {spoken}", "{remedy}"
)
AGENT_ALREADY_RUNNING = ErrorKind(409, "agent_already_running", field="agent_instance", shows="").says(
    "an agent of {node} was heard of {heard_ago:seconds} ago",
    "stop the other agent, or enroll this machine as a node of its own",
)
TOO_MANY_HELLOS = ErrorKind(429, "too_many_hellos").says(
    "{node} announced its agent more than {a_minute} times a minute",
    "an agent sends it again by itself; if that goes on, look for a second agent with the node's token, or raise"
    " IOTIDE_REPORT_HELLOS_A_MINUTE",
)
AGENT_SUPERSEDED = ErrorKind(409, "agent_superseded", field="agent_instance", shows="").says(
    "another agent of {node} has taken over", "stop this agent"
)
BLACKOUT_NOT_FOUND = ErrorKind(404, "blackout_not_found", field="blackout_id").says(
    "there is no blackout {blackout_id}"
)
BLACKOUT_OVER = ErrorKind(409, "blackout_over", field="ends_at", shows="{ends_at:iso}").says(
    "ends_at: the blackout would have ended at {ends_at:time}", "give a time to come"
)


def strange_version(wire_version: int) -> IotideError:
    """Return the refusal of an agent whose wire version this server does not speak."""
    is_old = wire_version < SPOKEN_VERSIONS.start
    remedy = "install an agent of the server's release" if is_old else "upgrade the server"
    return WIRE_VERSION_UNSUPPORTED(wire_version=wire_version, spoken=named(SPOKEN_VERSIONS), remedy=remedy)
