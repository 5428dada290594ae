"""Reads the JSON summary of IOR: one test, one repetition of each access."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from iotide_agent.workloads.base import OutputRefusedError
from iotide_wire.units import format_seconds

_HALF_TICK_SECONDS: Final = 0.5e-4
"""Times are printed with four decimals."""
_PRINTED_RATIO: Final = 1e-3
"""Rates and totals are printed with four decimals too, of numbers that may be small."""

Operation = Literal["write", "read"]

_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _IorPart(BaseModel):
    model_config = ConfigDict(frozen=True)


class AccessResult(_IorPart):
    """What one access took, from the first task's begin to the last one's end; the flush counts as transfer."""

    access: Operation
    rate_mebibytes: _Positive = Field(alias="bwMiB")
    open_seconds: _Seconds = Field(alias="openTime")
    transfer_seconds: _Positive = Field(alias="wrRdTime")
    close_seconds: _Seconds = Field(alias="closeTime")
    total_seconds: _Positive = Field(alias="totalTime")

    @property
    def parts(self) -> Mapping[str, float]:
        return {
            "open": self.open_seconds,
            "transfer": self.transfer_seconds,
            "close": self.close_seconds,
            "total": self.total_seconds,
        }


class _Parameters(_IorPart):
    api: Literal["POSIX"]
    repetitions: Literal[1]
    fsync: bool
    file_per_process: bool = Field(alias="filePerProc")
    reorder: bool = Field(alias="reorderTasks")
    random: bool = Field(alias="randomOffset")
    segments: int = Field(alias="segmentCount")
    transfer_size: int = Field(alias="transferSize")
    block_size: int = Field(alias="blockSize")


class _Test(_IorPart):
    parameters: _Parameters = Field(alias="Parameters")
    results: Annotated[tuple[AccessResult, ...], Field(alias="Results")]


class Summary(_IorPart):
    """What one access moved, of all tasks; the total to four decimals."""

    operation: Operation
    tasks: int = Field(alias="numTasks")
    moved_mebibytes: _Positive = Field(alias="xsizeMiB")


class IorReport(_IorPart):
    """All that ior wrote."""

    tests: Annotated[tuple[_Test, ...], Field(min_length=1, max_length=1)]
    summary: tuple[Summary, ...]
    finished: str = Field(alias="Finished")

    @property
    def results(self) -> Mapping[Operation, AccessResult]:
        return {result.access: result for result in self.tests[0].results}

    @property
    def summaries(self) -> Mapping[Operation, Summary]:
        return {summary.operation: summary for summary in self.summary}

    def ran(self, operation: Operation) -> Mapping[str, int]:
        """What was really run, by the words of a person."""
        parameters = self.tests[0].parameters
        return {
            "tasks": self.summaries[operation].tasks,
            "transfer size": parameters.transfer_size,
            "block size": parameters.block_size,
            "segments": parameters.segments,
            "file per task": parameters.file_per_process,
            "fsync": parameters.fsync,
            "reordered": parameters.reorder,
            "random": parameters.random,
        }

    @model_validator(mode="after")
    def _rates_are_bytes_by_seconds(self) -> Self:
        if self.results.keys() != self.summaries.keys():
            raise ValueError("it sums up other accesses than it made")
        for operation, result in self.results.items():
            seconds = self.summaries[operation].moved_mebibytes / result.rate_mebibytes
            if abs(seconds - result.total_seconds) > _HALF_TICK_SECONDS + _PRINTED_RATIO * seconds:
                raise ValueError(
                    f"its rate means {format_seconds(seconds)}, it prints {format_seconds(result.total_seconds)}"
                )
        return self


def read_report(step: str, text: str, operation: Operation) -> IorReport:
    """Return the report in `text` of `operation`; raise OutputRefusedError where it is cut or contradicts itself."""
    try:
        report = IorReport.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the JSON"
        raise OutputRefusedError(step, f"no summary of ior: {place}: {first['msg']}", text[-500:]) from error
    if operation not in report.results:
        raise OutputRefusedError(step, f"ior reports no {operation}", text[-500:])
    return report
