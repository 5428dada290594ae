"""Parser of IOR's summary, as JSON or as text: one test, one repetition of each access."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from iotide_agent.workloads.base import OutputRefusedError
from iotide_agent.workloads.ior_text import as_summary
from iotide_wire.units import format_seconds

_HALF_TICK_SECONDS: Final = 0.5e-4
"""Times are printed with four decimals."""
_PRINTED_RATIO: Final = 1e-3
"""Rates and totals, which may be small, are printed with four decimals too."""
_TEXT: Final = re.compile(r"^access +bw\(MiB/s\) ", re.MULTILINE)
_JSON: Final = re.compile(r"^\{", re.MULTILINE)
"""IOR 3.2 prints a line of text before it, which all tasks but the first overwrite in part."""

Operation = Literal["write", "read"]
Api = Literal["POSIX", "MPIIO"]
Interface = Literal["POSIX", "MPIIO", "MPIIO-collective"]
"""IOR's name of the interface, with its switch for collective calls."""

_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _IorPart(BaseModel):
    model_config = ConfigDict(frozen=True)


class AccessResult(_IorPart):
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
    api: Api
    repetitions: Literal[1]
    fsync: bool
    file_per_process: bool = Field(alias="filePerProc")
    collective: bool = False
    nodes: int = 1
    tasks_per_node: int | None = Field(default=None, alias="tasksPerNode")
    reorder: bool = Field(alias="reorderTasks")
    random: bool = Field(alias="randomOffset")
    segments: int = Field(alias="segmentCount")
    transfer_size: int = Field(alias="transferSize")
    block_size: int = Field(alias="blockSize")


def _flat(results: Any) -> Any:  # noqa: ANN401 - JSON of any shape, which the model checks afterwards
    """Remove the list around each repetition, which releases before 4.0 print."""
    if not isinstance(results, list | tuple):
        return results
    return [result for group in results for result in (group if isinstance(group, list) else [group])]


class _Test(_IorPart):
    parameters: _Parameters = Field(alias="Parameters")
    results: Annotated[tuple[AccessResult, ...], BeforeValidator(_flat), Field(alias="Results")]


class Summary(_IorPart):
    operation: Operation
    tasks: int = Field(alias="numTasks")
    moved_mebibytes: _Positive = Field(alias="xsizeMiB")
    counted_mebibytes: float = 1e-4
    """Resolution of `moved_mebibytes`: ior prints four decimals."""


class IorReport(_IorPart):
    tests: Annotated[tuple[_Test, ...], Field(min_length=1, max_length=1)]
    summary: tuple[Summary, ...]
    finished: str = Field(alias="Finished")

    @property
    def results(self) -> Mapping[Operation, AccessResult]:
        return {result.access: result for result in self.tests[0].results}

    @property
    def summaries(self) -> Mapping[Operation, Summary]:
        return {summary.operation: summary for summary in self.summary}

    @property
    def tasks_per_node(self) -> int | None:
        """Return the tasks on the first node. Some releases do not print them."""
        return self.tests[0].parameters.tasks_per_node

    def ran(self, operation: Operation) -> Mapping[str, int | str]:
        parameters = self.tests[0].parameters
        return {
            "tasks": self.summaries[operation].tasks,
            "nodes": parameters.nodes,
            "api": parameters.api,
            "collective": parameters.collective,
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
            raise ValueError("its summary lists other accesses than its results")
        for operation, result in self.results.items():
            summary = self.summaries[operation]
            seconds = summary.moved_mebibytes / result.rate_mebibytes
            rounding_seconds = _HALF_TICK_SECONDS + summary.counted_mebibytes / result.rate_mebibytes
            if abs(seconds - result.total_seconds) > rounding_seconds + _PRINTED_RATIO * seconds:
                raise ValueError(
                    f"its rate implies {format_seconds(seconds)}, but it prints {format_seconds(result.total_seconds)}"
                )
        return self


def api_of(interface: Interface) -> Api:
    return "POSIX" if interface == "POSIX" else "MPIIO"


def is_collective(interface: Interface) -> bool:
    return interface == "MPIIO-collective"


def read_report(step: str, text: str, operation: Operation) -> IorReport:
    """Raise OutputRefusedError for a report that is cut or contradicts itself."""
    begin = _JSON.search(text)
    try:
        if begin is None and _TEXT.search(text):
            report = IorReport.model_validate(as_summary(text))
        else:
            report = IorReport.model_validate_json(text[begin.start() if begin else 0 :])
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the JSON"
        raise OutputRefusedError(step, f"not a summary of ior: {place}: {first['msg']}", text[-500:]) from error
    if operation not in report.results:
        raise OutputRefusedError(step, f"ior reports no {operation}", text[-500:])
    return report
