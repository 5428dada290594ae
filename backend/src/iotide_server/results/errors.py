"""What can go wrong with results."""

from typing import Final

from iotide_server.kit.errors import ErrorKind

MOST_PIECES: Final = 8_000  # stored rows of up to 600 values of which one answer is made: 55 counters over a day
MOST_POINTS: Final = 1_000_000  # values in one answer

METRIC_NOT_DECLARED = ErrorKind(422, "metric_not_declared", field="{field}", shows="metric").says(
    "the workload announced no metric {metric}", "announce it, or send one of {declared:sorted}"
)
LABEL_NOT_DECLARED = ErrorKind(422, "label_not_declared", field="{field}", shows="value").says(
    "metric {metric} was announced without a label {label}", "announce it, or send only {declared}"
)
TARGET_NOT_MEASURED = ErrorKind(422, "target_not_measured", field="{field}", shows="target_id").says(
    "the run does not load target {target_id}", "send one of {target_ids:sorted}, or null"
)
REPORT_TOO_LARGE = ErrorKind(422, "report_too_large", field="{field}", shows="count").says(
    "{field}: {count} {what}; at most {limit}", "{remedy}"
)
DAY_FULL = ErrorKind(422, "report_too_large", field="{field}", shows="size_bytes").says(
    "{field}: {size_bytes} bytes of results, curves and raw output of the node today; at most {limit_bytes}",
    "wait until tomorrow (UTC), report less, or have an administrator of the server raise the limit"
    " (docs/isolation.md)",
)
CURVE_OUT_OF_RUN = ErrorKind(422, "curve_out_of_run", field="curves.started_at", shows="said").says(
    "curve {counter} has values of {said:time}; the run was under way between"
    " {first:%Y-%m-%d %H:%M:%S} and {last:time}, a day's error of the clock included",
    "check the node's clock, and the agent's release",
)
NOTHING_TO_SHOW = ErrorKind(422, "nothing_to_show", field="metric", shows="").says(
    "metric: name a metric or a counter, and not both", "take one of /campaigns/{{id}}/measures"
)
REVISION_UNKNOWN = ErrorKind(409, "revision_unknown", field="workload_revision", shows="revision").says(
    "no agent announced revision {revision} of {workload}",
    "upgrade an agent to the release whose parser this is, and let it say hello",
)
RUN_NOT_READABLE = ErrorKind(409, "run_not_readable", field="run_id").says(
    "run {run_id} is {state} and keeps no reading that another could take the place of",
    "read runs again that finished, or failed with output_refused or parser_fault; let others run again",
)
RAW_OUTPUT_REMOVED = ErrorKind(409, "raw_output_removed", field="run_id").says(
    "the raw output of run {run_id} was removed on {removed_at:%Y-%m-%d}, as long as such is kept here",
    "its numbers stay; let it run again to have raw output of it",
)
ORDERS_DIFFER = ErrorKind(409, "orders_differ", field="orders", shows="order_ids").says(
    "the attempt of run {run_id} that counts has other orders", "read all of these, each once"
)
READING_NOT_FOUND = ErrorKind(404, "reading_not_found", field="reading_id").says("there is no reading {reading_id}")
DIGEST_MISMATCH = ErrorKind(422, "digest_mismatch", field="sha256").says(
    "artefact {name} has the digest {found}, not {sha256}",
    "send it again; it was changed on its way or after its digest was taken",
)
ARTEFACT_TOO_LARGE = ErrorKind(413, "body_too_large", field="{name}", shows="size_bytes").says(
    "artefact {name} has {size_bytes} bytes; at most {limit_bytes} are kept", "cut it, and say in it that it was cut"
)
RAW_OUTPUT_FULL = ErrorKind(413, "raw_output_full", field="{name}", shows="size_bytes").says(
    "artefact {name}: {whose} would have {size_bytes} bytes of raw output; at most {limit_bytes} are kept",
    "have the tool print less, or have an administrator of the server raise the limit (docs/isolation.md)",
)
ARTEFACT_KEPT = ErrorKind(409, "artefact_kept", field="name").says(
    "the order has ended with another {name}", "keep it; it is not wanted"
)
TOO_MANY_ARTEFACTS = ErrorKind(409, "too_many_artefacts", field="name").says(
    "the order has {allowed} artefacts already", "put several into one"
)
ARTEFACT_NOT_FOUND = ErrorKind(404, "artefact_not_found", field="artefact_id").says(
    "there is no artefact {artefact_id}"
)
SERIES_NOT_FOUND = ErrorKind(404, "series_not_found", field="series_id").says("there is no series {series_id}")
SURFACE_CELL_NOT_FOUND = ErrorKind(404, "cell_not_found", field="{side}", shows="source").says(
    "{source}: there is no cell {missing}", "see /campaigns/{{id}}/cells"
)
NO_SURFACE = ErrorKind(422, "no_surface", field="{side}", shows="source").says(
    "{source} has no valid numbers of two file sizes and two record sizes",
    "take one of /surface-sources: iozone in auto mode, or a campaign that sweeps both sizes",
)
CURVES_TOO_LARGE = ErrorKind(422, "curves_too_large", field="counter", shows="").says(
    f"{{curves}} curves in {{pieces}} pieces of up to 600 values, at {{max_points}} points each, are too many for"
    f" one answer; at most {MOST_PIECES} pieces and {MOST_POINTS} points in all",
    "name fewer counters or fewer points",
)
SURFACE_TOO_LARGE = ErrorKind(422, "surface_too_large", field="operation").says(
    "{operation} was measured at {files} file sizes and {records} record sizes; at most {most} cells show",
    "name cells of the campaign as the source: campaign-5.1.2",
)
OPERATION_NOT_MEASURED = ErrorKind(422, "operation_not_measured", field="operation").says(
    "{operation} was not measured", "take {measured:names}"
)
METRIC_NOT_MEASURED = ErrorKind(422, "metric_not_measured", field="metric").says(
    "{metric} was not measured over two sizes", "take {measured:names}"
)
