"""Reads the lines of loads/fill_files.py: one for each file, and one that says why there were no more."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from iotide_agent.workloads.base import OutputRefusedError


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    used_bytes: Annotated[int, Field(ge=0, le=2**63 - 1)]
    total_bytes: Annotated[int, Field(gt=0, le=2**63 - 1)]


class File(_Line):
    """A file, with the space of the target before it was written and all that its dd printed."""

    file: Annotated[int, Field(ge=1)]
    wall_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    stdout: str
    stderr: str


class End(_Line):
    """The load's last word."""

    ended_by: Literal["count", "share", "reserve"]
    files: Annotated[int, Field(ge=1)]


_LINE: Final[TypeAdapter[File | End]] = TypeAdapter(File | End)


def read_lines(step: str, text: str) -> tuple[list[File], End | None]:
    """Return the files in their order, and the load's last word where it came; raise OutputRefusedError."""
    try:
        lines = [_LINE.validate_json(line) for line in text.splitlines()]
    except ValidationError as error:
        raise OutputRefusedError(step, "a line is not the load's JSON", text[-500:]) from error
    end = lines.pop() if lines and isinstance(lines[-1], End) and text.endswith("\n") else None
    files = [line for line in lines if isinstance(line, File)]
    if [file.file for file in files] != list(range(1, len(lines) + 1)):
        raise OutputRefusedError(step, "the files are not numbered from 1 on", text[-500:])
    return files, end if isinstance(end, End) else None
