"""Errors of loading and removing sample data."""

from iotide_server.kit.errors import ErrorKind

DEMO_HISTORY_LOADED = ErrorKind(409, "demo_history_loaded").says(
    "sample data is already loaded, in {clusters:names}", "remove it with `iotide-server forget-demo-history` first"
)
DEMO_HISTORY_TOO_SHORT = ErrorKind(422, "demo_history_too_short", field="days").says(
    "sample data cannot have {days} days", "choose {fewest} to {most} days"
)
DEMO_HISTORY_UNKNOWN_NAME = ErrorKind(422, "demo_history_unknown_name", field="{what}", shows="name").says(
    "the sample data has no {what} {name}", "choose one of {known:sorted}"
)
DEMO_HISTORY_NAME_TAKEN = ErrorKind(409, "demo_history_name_taken", shows="name").says(
    "cluster {name} already exists and is not sample data", "rename that cluster first"
)
DEMO_HISTORY_ABSENT = ErrorKind(409, "demo_history_absent").says(
    "no sample data is loaded", "load it with `iotide-server load-demo-history --seed 1`"
)
