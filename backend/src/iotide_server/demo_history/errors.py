"""Why sample data is not loaded, or not removed."""

from iotide_server.kit.errors import ErrorKind

DEMO_HISTORY_LOADED = ErrorKind(409, "demo_history_loaded").says(
    "there is sample data already, in {clusters:names}", "remove it with `iotide-server forget-demo-history` first"
)
DEMO_HISTORY_TOO_SHORT = ErrorKind(422, "demo_history_too_short", field="days").says(
    "sample data of {days} days cannot be loaded", "give {fewest} to {most}"
)
DEMO_HISTORY_UNKNOWN_NAME = ErrorKind(422, "demo_history_unknown_name", field="{what}", shows="name").says(
    "the sample data has no {what} {name}", "give one of {known:sorted}"
)
DEMO_HISTORY_NAME_TAKEN = ErrorKind(409, "demo_history_name_taken", shows="name").says(
    "there is a cluster {name} already, which is no sample data", "rename that cluster first"
)
DEMO_HISTORY_ABSENT = ErrorKind(409, "demo_history_absent").says(
    "there is no sample data", "load it with `iotide-server load-demo-history --seed 1`"
)
