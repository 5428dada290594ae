"""Errors of published results."""

from iotide_server.kit.errors import ErrorKind

PUBLISHED_NAME_TAKEN = ErrorKind(409, "published_name_taken", shows="name").says(
    "cluster {name} exists and holds no published results", "rename that cluster first"
)
PUBLISHED_ABSENT = ErrorKind(409, "published_absent").says(
    "no published results are loaded", "load them with `iotide-server load-published`"
)
