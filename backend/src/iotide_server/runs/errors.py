"""Errors of runs."""

from iotide_server.kit.errors import ErrorKind

RUN_NOT_FOUND = ErrorKind(404, "run_not_found", field="run_id").says("there is no run {run_id}")
RUN_ENDED = ErrorKind(409, "run_ended", field="run_id").says(
    "run {run_id} is already {state}", "only waiting and active runs can be cancelled"
)
RUN_NOT_RETRIABLE = ErrorKind(409, "run_not_retriable", field="run_id").says(
    "run {run_id} is {state}", "retry a failed or cancelled run, or submit a new one"
)
RUN_STAGE_OVER = ErrorKind(409, "run_stage_over", field="run_id").says(
    "run {run_id} belongs to stage {variant!r}, which is not the current stage of its campaign",
    "retry runs of the current stage, or submit a campaign for that stage",
)
RUN_RESOURCES_GONE = ErrorKind(409, "run_resources_gone", field="run_id").says(
    "run {run_id} can no longer run: {gone:clauses}", "submit a campaign with nodes and targets that exist"
)
