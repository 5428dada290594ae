"""Errors of clusters, nodes and their agents."""

from iotide_server.kit.errors import (
    ErrorKind,
    IotideError,
)
from iotide_wire.versions import SPOKEN_VERSIONS, STRANGE_VERSION, named

CLUSTER_NOT_FOUND = ErrorKind(404, "cluster_not_found", field="cluster_id", shows="cluster").says(
    "there is no cluster {cluster}"
)
CLUSTER_NAME_TAKEN = ErrorKind(409, "cluster_name_taken", field="name").says(
    "a cluster {name} already exists", "choose another name"
)
CLUSTER_IS_SAMPLE_DATA = ErrorKind(409, "cluster_made_up", field="cluster", shows="name").says(
    "cluster {name} holds sample data and cannot run anything",
    "choose a cluster with nodes; `iotide-server forget-demo-history` removes all sample data",
)
CLUSTER_BUSY = ErrorKind(409, "cluster_busy", field="launcher").says(
    "cluster {name} has active runs ({run_count})", "drain the cluster and wait for them to end, or cancel them"
)
NODE_NOT_FOUND = ErrorKind(404, "node_not_found", field="node_id", shows="node").says("there is no node {node}")
NODE_NAME_TAKEN = ErrorKind(409, "node_name_taken", field="node_name", shows="name").says(
    "the cluster already has a node {name}",
    "if it is the same host, enroll it again with a token from the node's page; otherwise set another node_name in"
    " its agent.toml, or retire the old node first",
)
NODE_PENDING = ErrorKind(403, "node_pending", field="node_token", shows="").says(
    "node {name} waits for approval until {until:time}",
    "ask an admin of the cluster to approve it on the cluster's page, if the fingerprint there is {fingerprint}",
)
PENDING_NODE_NOT_FOUND = ErrorKind(404, "pending_node_not_found", field="{field}", shows="pending_id").says(
    "the cluster has no pending node {pending_id}"
)
ROTATION_NOT_WANTED = ErrorKind(409, "rotation_not_wanted").says(
    "no rotation was requested for node {node_id}", "keep using its present credentials"
)
ROTATION_IMPOSSIBLE = ErrorKind(409, "rotation_impossible", field="node_id", shows="node").says(
    "node {node} {because}", "{remedy}"
)
NODE_IN_USE = ErrorKind(409, "node_in_use", field="join_token", shows="").says(
    "node {node} holds orders of the runs {run_ids:sorted}, and their loads may still be running",
    "wait for them to end, or mark the node as dead or free it on its page; then enroll again",
)
NODE_BUSY = ErrorKind(409, "node_busy", field="node_id", shows="name").says(
    "{run_count} waiting or active runs need node {name}",
    "cancel them or wait for them to end; if its token may be stolen, revoke the node instead",
)
SLOTS_IN_USE = ErrorKind(409, "slots_in_use", field="slots").says(
    "{used} runs use the node now", "wait for some of them to end"
)
DRAIN_END_PASSED = ErrorKind(422, "drain_end_passed", field="until").says(
    "until: {until} has passed", "give a time in the future, or null to drain until a user resumes it"
)
NODE_NOT_SILENT = ErrorKind(409, "node_not_silent", field="node_id", shows="node").says(
    "node {node} {heard}",
    "a node can be marked as dead after {silent_after:seconds} of silence; drain one that is online, or cancel its"
    " runs",
)
NODE_NOT_STUCK = ErrorKind(409, "node_not_stuck", field="node_id", shows="node").says(
    "node {node} is not stuck: no unkillable load holds it",
    "see its page; mark it as dead if it is silent, or cancel its runs if it is online",
)
HELD_DIFFERS = ErrorKind(409, "held_differs", field="statement_sha256", shows="seen_sha256").says(
    "the list of what would be freed has changed since it was read",
    "read it again with GET .../stuck and confirm the new list",
)
DEATH_DIFFERS = ErrorKind(409, "death_differs", field="statement_sha256", shows="seen_sha256").says(
    "the list of what would be freed and ended has changed since it was read",
    "read it again with GET .../dead and confirm the new list",
)
JOIN_TOKEN_REFUSED = ErrorKind(401, "join_token_refused", field="join_token", shows="").says(
    "the join token is unknown, expired or used up", "create a new one on the cluster's page"
)
JOIN_TOKEN_NOT_FOUND = ErrorKind(404, "join_token_not_found", field="token_id").says(
    "there is no join token {token_id}"
)
WIRE_VERSION_UNSUPPORTED = ErrorKind(409, STRANGE_VERSION, field="wire_version").says(
    "the agent uses wire version {wire_version}, and this server supports {spoken}", "{remedy}"
)
AGENT_ALREADY_RUNNING = ErrorKind(409, "agent_already_running", field="agent_instance", shows="").says(
    "another agent of {node} was online {heard_ago:seconds} ago",
    "stop the other agent, or enroll this machine as a node of its own",
)
TOO_MANY_HELLOS = ErrorKind(429, "too_many_hellos").says(
    "{node} announced its agent more than {a_minute} times a minute",
    "the agent retries automatically; if this persists, look for a second agent with the node's token, or raise"
    " IOTIDE_REPORT_HELLOS_A_MINUTE",
)
AGENT_SUPERSEDED = ErrorKind(409, "agent_superseded", field="agent_instance", shows="").says(
    "another agent of {node} has taken over", "stop this agent"
)
WINDOW_NOT_FOUND = ErrorKind(404, "blackout_not_found", field="blackout_id").says(
    "there is no maintenance window {blackout_id}"
)
WINDOW_OVER = ErrorKind(409, "blackout_over", field="ends_at", shows="{ends_at:iso}").says(
    "ends_at: {ends_at:time} has passed", "give a time in the future"
)


def strange_version(wire_version: int) -> IotideError:
    is_old = wire_version < SPOKEN_VERSIONS.start
    remedy = "install an agent of the server's release" if is_old else "upgrade the server"
    return WIRE_VERSION_UNSUPPORTED(wire_version=wire_version, spoken=named(SPOKEN_VERSIONS), remedy=remedy)
