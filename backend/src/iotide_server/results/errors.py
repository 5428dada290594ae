"""What can go wrong with results."""

from datetime import datetime
from typing import ClassVar, Final

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


class ReportTooLargeError(InvalidInputError):
    """A node reports more than it may."""

    code = "report_too_large"

    def __init__(self, what: str, field: str, count: int, limit: int, remedy: str) -> None:
        """Say what there is too much of, `count` of it where at most `limit` may be."""
        super().__init__(f"{field}: {count} {what}; at most {limit}", field=field, value=count, remedy=remedy)


class DayFullError(ReportTooLargeError):
    """A node sends more in a day than it may."""

    def __init__(self, field: str, size_bytes: int, limit_bytes: int) -> None:
        super().__init__(
            "bytes of results, curves and raw output of the node today",
            field,
            size_bytes,
            limit_bytes,
            "wait until tomorrow (UTC), report less, or have an administrator of the server raise the limit"
            " (docs/isolation.md)",
        )


class CurveOutOfRunError(InvalidInputError):
    """A curve has values of a time at which its run was not under way."""

    code = "curve_out_of_run"

    def __init__(self, counter: str, said: datetime, first: datetime, last: datetime) -> None:
        super().__init__(
            f"curve {counter} has values of {said:%Y-%m-%d %H:%M:%S} UTC; the run was under way between"
            f" {first:%Y-%m-%d %H:%M:%S} and {last:%Y-%m-%d %H:%M:%S} UTC, a day's error of the clock included",
            field="curves.started_at",
            value=said,
            remedy="check the node's clock, and the agent's release",
        )


class NothingToShowError(InvalidInputError):
    """A figure was asked for without what it is to show."""

    code = "nothing_to_show"

    def __init__(self) -> None:
        super().__init__(
            "metric: name a metric or a counter, and not both",
            field="metric",
            remedy="take one of /campaigns/{id}/measures",
        )


class RevisionUnknownError(ConflictError):
    """No agent announced that revision of a workload."""

    code = "revision_unknown"

    def __init__(self, workload: str, revision: int) -> None:
        super().__init__(
            f"no agent announced revision {revision} of {workload}",
            field="workload_revision",
            value=revision,
            remedy="upgrade an agent to the release whose parser this is, and let it say hello",
        )


class RunNotReadableError(ConflictError):
    """A run that cannot be read again."""

    code = "run_not_readable"

    def __init__(self, run_id: int, state: str) -> None:
        super().__init__(
            f"run {run_id} is {state} and keeps no reading that another could take the place of",
            field="run_id",
            value=run_id,
            remedy="read runs again that finished, or failed with output_refused or parser_fault; let others run again",
        )


class RawOutputRemovedError(ConflictError):
    """A run whose raw output was given up for its age."""

    code = "raw_output_removed"

    def __init__(self, run_id: int, removed_at: datetime) -> None:
        super().__init__(
            f"the raw output of run {run_id} was removed on {removed_at:%Y-%m-%d}, as long as such is kept here",
            field="run_id",
            value=run_id,
            remedy="its numbers stay; let it run again to have raw output of it",
        )


class OrdersDifferError(ConflictError):
    """A reading that leaves out a part of its run, or reads something else."""

    code = "orders_differ"

    def __init__(self, run_id: int, order_ids: list[int]) -> None:
        super().__init__(
            f"the attempt of run {run_id} that counts has other orders",
            field="orders",
            value=order_ids,
            remedy="read all of these, each once",
        )


class ReadingNotFoundError(NotFoundError):
    """No such reading, or none that the caller may see."""

    code = "reading_not_found"

    def __init__(self, reading_id: int) -> None:
        super().__init__(f"there is no reading {reading_id}", field="reading_id", value=reading_id)


class DigestMismatchError(InvalidInputError):
    """Content is not what its digest says."""

    code = "digest_mismatch"


class ArtefactTooLargeError(IotideError):
    """An artefact is larger than the server keeps."""

    status: ClassVar[int] = 413
    code = "body_too_large"


class RawOutputFullError(IotideError):
    """An order, or a node on one day, has sent as much raw output as it may."""

    status: ClassVar[int] = 413
    code = "raw_output_full"

    def __init__(self, name: str, whose: str, size_bytes: int, limit_bytes: int) -> None:
        super().__init__(
            f"artefact {name}: {whose} would have {size_bytes} bytes of raw output; at most {limit_bytes} are kept",
            field=name,
            value=size_bytes,
            remedy="have the tool print less, or have an administrator of the server raise the limit"
            " (docs/isolation.md)",
        )


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


class SurfaceCellNotFoundError(NotFoundError):
    """A campaign has no cell of that number."""

    code = "cell_not_found"

    def __init__(self, side: str, source: str, missing: int) -> None:
        super().__init__(
            f"{source}: there is no cell {missing}", field=side, value=source, remedy="see /campaigns/{id}/cells"
        )


class NoSurfaceError(InvalidInputError):
    """What was named did not go through two sizes."""

    code = "no_surface"

    def __init__(self, side: str, source: str) -> None:
        super().__init__(
            f"{source} has no valid numbers of two file sizes and two record sizes",
            field=side,
            value=source,
            remedy="take one of /surface-sources: iozone in auto mode, or a campaign that sweeps both sizes",
        )


MOST_PIECES: Final = 8_000
"""Stored rows of up to 600 values of which one answer is made: 55 counters over a day."""

MOST_POINTS: Final = 1_000_000
"""Values in one answer."""


class CurvesTooLargeError(InvalidInputError):
    """One answer would be made of too many values, or have too many."""

    code = "curves_too_large"

    def __init__(self, curves: int, pieces: int, max_points: int) -> None:
        super().__init__(
            f"{curves} curves in {pieces} pieces of up to 600 values, at {max_points} points each, are too many for one"
            f" answer; at most {MOST_PIECES} pieces and {MOST_POINTS} points in all",
            field="counter",
            value=None,
            remedy="name fewer counters or fewer points",
        )


class SurfaceTooLargeError(InvalidInputError):
    """There are too many sizes to lay a surface out."""

    code = "surface_too_large"

    def __init__(self, operation: str, files: int, records: int, most: int) -> None:
        super().__init__(
            f"{operation} was measured at {files} file sizes and {records} record sizes; at most {most} cells show",
            field="operation",
            value=operation,
            remedy="name cells of the campaign as the source: campaign-5.1.2",
        )


class OperationNotMeasuredError(InvalidInputError):
    """No side of a surface has that operation."""

    code = "operation_not_measured"

    def __init__(self, operation: str, measured: list[str]) -> None:
        super().__init__(
            f"{operation} was not measured", field="operation", value=operation, remedy=f"take {', '.join(measured)}"
        )


class SurfaceMetricNotMeasuredError(InvalidInputError):
    """The metric was not measured over two sizes."""

    code = "metric_not_measured"

    def __init__(self, metric: str, measured: list[str]) -> None:
        super().__init__(
            f"{metric} was not measured over two sizes",
            field="metric",
            value=metric,
            remedy=f"take {', '.join(measured)}",
        )
