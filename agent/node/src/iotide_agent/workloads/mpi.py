"""Programs of MPI: how this node starts several tasks of one, and what they and their launcher complain of."""

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, Field

from iotide_agent.workloads.base import OptionsT, Place, PlanRefusedError, Settings, StepOutcome, Workload

_TASKS: Final = "{tasks}"
_LIST_MARK: Final = "@"
"""Both programs take a path with it as a list of paths."""
_COMPLAINTS: Final = (
    re.compile(r"^ERROR: (.+)", re.MULTILINE | re.IGNORECASE),
    re.compile(r"^WARNING: (\w+\(.*\) failed .+)", re.MULTILINE),
    re.compile(r"^Error (invalid argument.*)", re.MULTILINE),
    re.compile(r"^YOUR APPLICATION TERMINATED WITH THE EXIT STRING: (.+)", re.MULTILINE),
)
"""The first that is found says most: after a full file system only a warning names the errno, an assertion follows."""

Argument = Annotated[str, Field(min_length=1)]


def _check_launcher(launcher: tuple[str, ...]) -> tuple[str, ...]:
    if launcher and sum(_TASKS in argument for argument in launcher) != 1:
        raise ValueError(f"write {_TASKS} once, where the launcher takes the number of tasks")
    return launcher


class MpiSettings(Settings):
    """How this node starts the program.

    Attributes:
        launcher: argument list before the program's own, `{tasks}` for their number, for instance
            `["mpirun", "--oversubscribe", "-n", "{tasks}"]`; empty where no MPI is installed, for a single task.
        program: the program, where it is not on PATH under its own name.
    """

    launcher: Annotated[tuple[Argument, ...], AfterValidator(_check_launcher)] = ("mpirun", "-n", _TASKS)
    program: Argument | None = None


class MpiWorkload(Workload[OptionsT]):
    """A program of which several tasks work side by side, started all at once by MPI's launcher."""

    settings_type: ClassVar[type[Settings]] = MpiSettings
    version_in_usage: ClassVar[bool] = True

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._mpi = MpiSettings.model_validate(settings or {})

    def version_commands(self) -> tuple[tuple[str, ...], ...]:
        """Its help without the launcher, since a program that was told to help may end without MPI's leave."""
        launcher = ((self._mpi.launcher[0], "--version"),) if self._mpi.launcher else ()
        return ((self._program(), "-h"), *launcher)

    def command(self, tasks: int, place: Place) -> tuple[str, ...]:
        """Return what begins the argument list of a number of tasks in a place; raise PlanRefusedError."""
        if _LIST_MARK in str(place.directory):
            raise PlanRefusedError(
                f"{self.tool} takes {place.directory} as a list because of its {_LIST_MARK}; approve another directory"
            )
        if self._mpi.launcher:
            return (*(argument.replace(_TASKS, str(tasks)) for argument in self._mpi.launcher), self._program())
        if tasks > 1:
            raise PlanRefusedError(
                f"option tasks = {tasks}: this node starts single tasks only; name a launcher in "
                f"[workloads.{self.name}] of its agent.toml"
            )
        return (self._program(),)

    @abstractmethod
    def is_whole(self, outcome: StepOutcome) -> bool:
        """Whether the output bears the program's own mark of its end."""

    def failure(self, outcome: StepOutcome) -> str | None:
        """By what it complains of, then by its end: launchers end with status 0 though their tasks were killed."""
        text = f"{outcome.stdout}\n{outcome.stderr}"
        complaint = next(filter(None, (pattern.search(text) for pattern in _COMPLAINTS)), None)
        if complaint is not None:
            return f"{self.tool}: {complaint[1]}"
        unfinished = None if self.is_whole(outcome) else f"{self.tool} ended with status 0 before its end"
        return super().failure(outcome) or unfinished

    def _program(self) -> str:
        return self._mpi.program or str(self.tool)
