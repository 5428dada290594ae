"""What can go wrong with runs."""

from iotide_server.kit.errors import ErrorKind

RUN_NOT_FOUND = ErrorKind(404, "run_not_found", field="run_id").says("there is no run {run_id}")
RUN_ENDED = ErrorKind(409, "run_ended", field="run_id").says(
    "run {run_id} is {state} already", "there is nothing left to cancel"
)
RUN_NOT_RETRIABLE = ErrorKind(409, "run_not_retriable", field="run_id").says(
    "run {run_id} is {state}", "retry runs that failed or were cancelled; submit a new one"
)
RUN_STAGE_OVER = ErrorKind(409, "run_stage_over", field="run_id").says(
    "run {run_id} belongs to the stage {variant!r} of its campaign, which is not the present one",
    "retry runs of the present stage, or submit a campaign for that one",
)
RUN_RESOURCES_GONE = ErrorKind(409, "run_resources_gone", field="run_id").says(
    "run {run_id} cannot run any more: {gone:clauses}", "submit a campaign over the nodes and targets that there are"
)
