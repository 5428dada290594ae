"""What can go wrong with results."""

from typing import ClassVar

from iotide_server.kit.errors import ConflictError, InvalidInputError, IotideError, NotFoundError


class MetricNotDeclaredError(InvalidInputError):
    """A sample names a metric that its workload never announced."""

    code = "metric_not_declared"


class LabelNotDeclaredError(InvalidInputError):
    """A sample has a label that its metric never announced."""

    code = "label_not_declared"


class TargetNotMeasuredError(InvalidInputError):
    """A sample names a target that its run does not load."""

    code = "target_not_measured"


class NothingToShowError(InvalidInputError):
    """A figure was asked for without what it is to show."""

    code = "nothing_to_show"

    def __init__(self) -> None:
        super().__init__(
            "metric: name a metric or a counter, and not both",
            field="metric",
            remedy="take one of /campaigns/{id}/measures",
        )


class DigestMismatchError(InvalidInputError):
    """Content is not what its digest says."""

    code = "digest_mismatch"


class ArtefactTooLargeError(IotideError):
    """An artefact is larger than the server keeps."""

    status: ClassVar[int] = 413
    code = "body_too_large"


class ArtefactKeptError(ConflictError):
    """Raw output of an order that has ended is never replaced."""

    code = "artefact_kept"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the order has ended with another {name}", field="name", value=name, remedy="keep it; it is not wanted"
        )


class TooManyArtefactsError(ConflictError):
    """An order has as many pieces of raw output as it may have."""

    code = "too_many_artefacts"

    def __init__(self, name: str, allowed: int) -> None:
        super().__init__(
            f"the order has {allowed} artefacts already", field="name", value=name, remedy="put several into one"
        )


class ArtefactNotFoundError(NotFoundError):
    """No such artefact, or none that the caller may see."""

    code = "artefact_not_found"

    def __init__(self, artefact_id: int) -> None:
        super().__init__(f"there is no artefact {artefact_id}", field="artefact_id", value=artefact_id)


class SeriesNotFoundError(NotFoundError):
    """No such series, or none that the caller may see."""

    code = "series_not_found"

    def __init__(self, series_id: int) -> None:
        super().__init__(f"there is no series {series_id}", field="series_id", value=series_id)
