"""Errors of the commands."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """Reason for a refusal; `code` is stable, and the server's own if the server refused.

    `field` is a dotted path of the input (`workloads[0].options.file_size_bytes`) with its `value`; `place` is its
    position in a file (`plan.yaml:3:9`).
    """

    code: str
    message: str
    field: str | None = None
    value: object = None
    remedy: str | None = None
    place: str | None = None

    def as_json(self) -> dict[str, object]:
        shown = {"code": self.code, "field": self.field, "value": self.value, "message": self.message}
        return shown | {"remedy": self.remedy} | ({"place": self.place} if self.place else {})


class RefusedError(Exception):
    """The command did nothing, for reasons that the caller can fix; exit status 2."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """Raise RefusedError if the block cannot write the file."""
    try:
        yield
    except OSError as error:
        message = f"{file} cannot be written: {error.strerror}"
        remedy = "name a file in a directory that you can write"
        raise RefusedError([Problem("file_unwritable", message, remedy=remedy)]) from error


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return the beginning of a remedy that names a similar word; empty without one."""
    close = difflib.get_close_matches(given, list(known), n=1)
    return f"did you mean {close[0]}? " if close else ""
