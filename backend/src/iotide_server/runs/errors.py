"""What can go wrong with runs."""

from collections.abc import Sequence

from iotide_server.kit.errors import ConflictError, NotFoundError


class RunNotFoundError(NotFoundError):
    """No such run, or none that the caller may see."""

    code = "run_not_found"

    def __init__(self, run_id: int) -> None:
        super().__init__(f"there is no run {run_id}", field="run_id", value=run_id)


class RunEndedError(ConflictError):
    """A run that finished or failed cannot be cancelled."""

    code = "run_ended"

    def __init__(self, run_id: int, state: str) -> None:
        super().__init__(
            f"run {run_id} is {state} already", field="run_id", value=run_id, remedy="there is nothing left to cancel"
        )


class RunNotRetriableError(ConflictError):
    """Only a run that failed or was cancelled can be tried again."""

    code = "run_not_retriable"

    def __init__(self, run_id: int, state: str) -> None:
        super().__init__(
            f"run {run_id} is {state}",
            field="run_id",
            value=run_id,
            remedy="retry runs that failed or were cancelled; submit a new one",
        )


class RunStageOverError(ConflictError):
    """The servers are no longer, or not yet, in the state in which the run was to be measured."""

    code = "run_stage_over"

    def __init__(self, run_id: int, variant: str) -> None:
        super().__init__(
            f"run {run_id} belongs to the stage {variant!r} of its campaign, which is not the present one",
            field="run_id",
            value=run_id,
            remedy="retry runs of the present stage, or submit a campaign for that one",
        )


class RunResourcesGoneError(ConflictError):
    """What a run needs is no longer there."""

    code = "run_resources_gone"

    def __init__(self, run_id: int, gone: Sequence[str]) -> None:
        super().__init__(
            f"run {run_id} cannot run any more: {'; '.join(gone)}",
            field="run_id",
            value=run_id,
            remedy="submit a campaign over the nodes and targets that there are",
        )
