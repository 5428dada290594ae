from typing import Final

from iotide_server.kit.errors import ErrorKind

MOST_PIECES: Final = 8_000  # up to 600 values each; 55 counters over a day
MOST_POINTS: Final = 1_000_000

METRIC_NOT_DECLARED = ErrorKind(422, "metric_not_declared", field="{field}", shows="metric").says(
    "the workload announced no metric {metric}", "announce it, or send one of {declared:sorted}"
)
LABEL_NOT_DECLARED = ErrorKind(422, "label_not_declared", field="{field}", shows="value").says(
    "metric {metric} was announced without a label {label}", "announce it, or send only {declared}"
)
TARGET_NOT_MEASURED = ErrorKind(422, "target_not_measured", field="{field}", shows="target_id").says(
    "the run does not use target {target_id}", "send one of {target_ids:sorted}, or null"
)
REPORT_TOO_LARGE = ErrorKind(422, "report_too_large", field="{field}", shows="count").says(
    "{field}: {count} {what}; at most {limit}", "{remedy}"
)
DAY_FULL = ErrorKind(422, "report_too_large", field="{field}", shows="size_bytes").says(
    "{field}: {size_bytes} bytes of results, curves and raw output of the node today; at most {limit_bytes}",
    "wait until tomorrow (UTC), report less, or ask the server's administrator to raise the limit (docs/isolation.md)",
)
CURVE_OUT_OF_RUN = ErrorKind(422, "curve_out_of_run", field="curves.started_at", shows="said").says(
    "curve {counter} has values of {said:time}, but the run was active between"
    " {first:%Y-%m-%d %H:%M:%S} and {last:time}, with a day's tolerance for the clock",
    "check the node's clock and the agent's version",
)
NOTHING_TO_SHOW = ErrorKind(422, "nothing_to_show", field="metric", shows="").says(
    "metric: choose either a metric or a counter", "choose one of /campaigns/{{id}}/measures"
)
REVISION_UNKNOWN = ErrorKind(409, "revision_unknown", field="workload_revision", shows="revision").says(
    "no agent announced revision {revision} of {workload}",
    "upgrade an agent to the release with this parser and start it",
)
RUN_NOT_READABLE = ErrorKind(409, "run_not_readable", field="run_id").says(
    "run {run_id} is {state} and has no reading to replace",
    "choose a run that finished, or failed with output_refused or parser_fault; repeat other runs",
)
RAW_OUTPUT_REMOVED = ErrorKind(409, "raw_output_removed", field="run_id").says(
    "the raw output of run {run_id} was removed on {removed_at:%Y-%m-%d}, after its retention period",
    "its values stay; repeat the run to get raw output",
)
ORDERS_DIFFER = ErrorKind(409, "orders_differ", field="orders", shows="order_ids").says(
    "the last attempt of run {run_id} has other orders", "send a reading of each of these, once"
)
READING_NOT_FOUND = ErrorKind(404, "reading_not_found", field="reading_id").says("there is no reading {reading_id}")
DIGEST_MISMATCH = ErrorKind(422, "digest_mismatch", field="sha256").says(
    "artefact {name} has the digest {found}, not {sha256}",
    "send it again; it changed in transit or after its digest was computed",
)
ARTEFACT_TOO_LARGE = ErrorKind(413, "body_too_large", field="{name}", shows="size_bytes").says(
    "artefact {name} has {size_bytes} bytes; at most {limit_bytes} are kept", "truncate it, and note that in the file"
)
RAW_OUTPUT_FULL = ErrorKind(413, "raw_output_full", field="{name}", shows="size_bytes").says(
    "artefact {name}: {whose} would have {size_bytes} bytes of raw output; at most {limit_bytes} are kept",
    "reduce the tool's output, or ask the server's administrator to raise the limit (docs/isolation.md)",
)
ARTEFACT_KEPT = ErrorKind(409, "artefact_kept", field="name").says(
    "the order ended with another {name}", "do not send it again; the stored one stays"
)
TOO_MANY_ARTEFACTS = ErrorKind(409, "too_many_artefacts", field="name").says(
    "the order already has {allowed} artefacts", "combine several into one"
)
ARTEFACT_NOT_FOUND = ErrorKind(404, "artefact_not_found", field="artefact_id").says(
    "there is no artefact {artefact_id}"
)
SERIES_NOT_FOUND = ErrorKind(404, "series_not_found", field="series_id").says("there is no series {series_id}")
SURFACE_CELL_NOT_FOUND = ErrorKind(404, "cell_not_found", field="{side}", shows="source").says(
    "{source}: there is no cell {missing}", "see /campaigns/{{id}}/cells"
)
NO_SURFACE = ErrorKind(422, "no_surface", field="{side}", shows="source").says(
    "{source} has no valid values for two file sizes and two record sizes",
    "choose one of /surface-sources: iozone in auto mode, or a campaign that sweeps both sizes",
)
CURVES_TOO_LARGE = ErrorKind(422, "curves_too_large", field="counter", shows="").says(
    f"{{curves}} curves in {{pieces}} pieces of up to 600 values, at {{max_points}} points each, are too many for"
    f" one answer; at most {MOST_PIECES} pieces and {MOST_POINTS} points in all",
    "request fewer counters or fewer points",
)
SURFACE_TOO_LARGE = ErrorKind(422, "surface_too_large", field="operation").says(
    "{operation} was measured at {files} file sizes and {records} record sizes; at most {most} cells can be shown",
    "choose cells of the campaign as the source: campaign-5.1.2",
)
OPERATION_NOT_MEASURED = ErrorKind(422, "operation_not_measured", field="operation").says(
    "{operation} was not measured", "choose {measured:names}"
)
METRIC_NOT_MEASURED = ErrorKind(422, "metric_not_measured", field="metric").says(
    "{metric} was not measured over two sizes", "choose {measured:names}"
)
