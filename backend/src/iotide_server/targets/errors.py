"""Errors of targets."""

from iotide_server.kit.errors import ErrorKind

TARGET_NOT_FOUND = ErrorKind(404, "target_not_found", field="target_id", shows="target").says(
    "there is no target {target}"
)
TARGET_NAME_TAKEN = ErrorKind(409, "target_name_taken", field="name").says(
    "the cluster already has a target {name}", "choose another name"
)
FILE_SYSTEM_IS_TARGET = ErrorKind(409, "file_system_is_target", field="path").says(
    "the file system at {path} already is target {name}",
    "measure {name}; add missing nodes with `elsewhere` in PATCH /targets/{target_id}",
)
STRANGER_MOUNTED = ErrorKind(409, "stranger_mounted", field="targets", shows="target").says(
    "target {target} on node {node}: {what}", "mount the other nodes' file system on {node}, or {otherwise}"
)
BACKING_REFUSED = ErrorKind(409, "backing_refused", field="targets", shows="name").says(
    "targets: {problem}", "{remedy}"
)
TARGET_BUSY = ErrorKind(409, "target_busy", field="target_id", shows="name").says(
    "{run_count} waiting or active runs use target {name}", "cancel them or wait for them to end"
)
PATH_REFUSED = ErrorKind(422, "path_refused", field="path").says("path: {problem}", "{remedy}")
PATH_NOT_APPROVED = ErrorKind(422, "path_not_approved", field="path").says(
    "path: {node} does not allow runs to write below {path}",
    "choose a path at or below {approved:names}, or approve it in the agent's configuration",
)
NO_PATH_APPROVED = ErrorKind(422, "path_not_approved", field="path").says(
    "path: {node} does not allow runs to write below {path}",
    "approve a directory in the configuration of the agent on {node}",
)
NOTHING_MOUNTED = ErrorKind(409, "nothing_mounted", field="path").says(
    "{node} has not announced a file system that holds {path}",
    "start the agent on {node}, or mount the file system there",
)
