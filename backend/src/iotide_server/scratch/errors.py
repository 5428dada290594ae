"""Errors of scratch sets."""

from typing import Final

from iotide_server.kit.errors import ErrorKind
from iotide_wire.scratch_sets import ScratchState

SCRATCH_SET_NOT_FOUND = ErrorKind(404, "scratch_set_not_found", field="set_id", shows="scratch_set").says(
    "there is no scratch set {scratch_set}"
)
SCRATCH_SET_UNKNOWN = ErrorKind(404, "scratch_set_unknown", field="scratch.set", shows="scratch_set").says(
    "scratch.set: {node} has no scratch set {scratch_set}; known are {known}",
    "choose one of them, or adopt disks on {node} with `iotide-agent scratch adopt`",
)
SCRATCH_NAME_DIFFERS = ErrorKind(422, "scratch_name_differs", field="name").says(
    "name: {name} is not the name of this scratch set", "type {scratch_set} to confirm that its disks may be erased"
)
SCRATCH_DISKS_DIFFER = ErrorKind(409, "scratch_disks_differ", field="disks_sha256", shows="").says(
    "the disks of scratch set {scratch_set} are no longer those that you saw", "check the list and confirm again"
)
SCRATCH_SET_EMPTY = ErrorKind(409, "scratch_set_empty", field="set_id", shows="scratch_set").says(
    "scratch set {scratch_set} of {node} has no disks", "adopt disks on {node} with `iotide-agent scratch adopt`"
)
SCRATCH_SET_BUSY = ErrorKind(409, "scratch_set_busy", field="set_id", shows="scratch_set").says(
    "campaign {campaign_id}, {campaign}, uses scratch set {scratch_set}; runs that have not ended: {run_count}",
    "wait for it to end, or cancel it and wait until it has cleaned the set",
)
SCRATCH_SET_TAKEN = ErrorKind(409, "scratch_set_taken", field="run_id", shows="").says(
    "campaign {campaign_id} uses scratch set {scratch_set} now",
    "wait until it has ended; it cleans the set before its first make and at its end",
)
SCRATCH_NOT_MOUNTED = ErrorKind(409, "scratch_not_mounted", field="mount_point", shows="mount_point").says(
    "nothing is mounted at {mount_point}, the mount point of scratch set {scratch_set}", "make its file system again"
)
SCRATCH_NOT_SERVED = ErrorKind(409, "scratch_not_served", field="path", shows="path").says(
    "{path} of {node} holds {found}, not the NFS export of scratch set {scratch_set}",
    "have remount_command of agent.toml on {node} mount {export} there",
)
LAYOUT_IMPOSSIBLE = ErrorKind(422, "layout_impossible", field="layout").says("{problem}", "{remedy}")

SCRATCH_NOT_ENABLED = ErrorKind(409, "scratch_not_enabled", field="scratch.set", shows="scratch_set").says(
    "scratch set {scratch_set} of {node} is not enabled", "ask an admin of the cluster to enable it on the node's page"
)
SCRATCH_CHANGED = ErrorKind(409, "scratch_changed", field="scratch.set", shows="scratch_set").says(
    "scratch set {scratch_set} of {node} has changed since an admin enabled it: {changes:clauses}",
    "ask an admin of the cluster to check its disks and enable it again",
)
SCRATCH_NO_SCHEDULES = ErrorKind(403, "scratch_no_schedules", field="scratch.set", shows="scratch_set").says(
    "schedules may not use scratch set {scratch_set} of {node}",
    "submit the plan yourself, or ask an admin of the cluster to enable the set for schedules",
)
SCRATCH_NO_TOKENS = ErrorKind(403, "scratch_no_tokens", field="scratch.set", shows="scratch_set").says(
    "API tokens may not use scratch set {scratch_set} of {node}",
    "submit the plan in the browser, or ask an admin of the cluster to enable the set for API tokens",
)
SCRATCH_DIRTY = ErrorKind(409, "scratch_dirty", field="scratch.set", shows="scratch_set").says(
    "scratch set {scratch_set} of {node} is not clean: {reason}",
    "clean it again, or run `iotide-agent scratch wipe {scratch_set}` as root on {node}",
)
SCRATCH_UNUSABLE = ErrorKind(409, "scratch_unusable", field="scratch.set", shows="scratch_set").says(
    "scratch set {scratch_set} of {node} cannot be used: {reason}", "{remedy}"
)
REMEDIES: Final = {
    ScratchState.FOREIGN: "save the data on its disks and remove it, or adopt the disks again as root",
    ScratchState.ABSENT: "adopt or connect the missing disks, or remove them from the set as root",
    ScratchState.LOST: "check the disks and their cables, then restart the node, or release the disks as root",
}
