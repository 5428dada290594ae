"""What a person did wrong, as field, value and remedy: the one form in which every command refuses."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that must change before the command can do its work; `code` is stable, the server's own if it refused.

    `field` is a dotted path of the input (`workloads[0].options.file_size_bytes`) with the `value` given there, `place`
    where that stands in a file (`plan.yaml:3:9`).
    """

    code: str
    message: str
    field: str | None = None
    value: object = None
    remedy: str | None = None
    place: str | None = None

    def as_json(self) -> dict[str, object]:
        """The problem in the shape of the server's errors."""
        shown = {"code": self.code, "field": self.field, "value": self.value, "message": self.message}
        return shown | {"remedy": self.remedy} | ({"place": self.place} if self.place else {})


class RefusedError(Exception):
    """The command was not carried out, for reasons that the caller can act on; exit status 2."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)
