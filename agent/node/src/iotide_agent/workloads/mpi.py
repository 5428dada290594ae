"""Base of MPI workloads: starts parallel tasks and finds error messages of tasks and launcher."""

import re
from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, Field

from iotide_agent.workloads.base import OptionsT, Place, PlanRefusedError, Settings, StepOutcome, Workload
from iotide_wire.expressions import Option

_TASKS: Final = "{tasks}"
_LIST_MARK: Final = "@"
"""ior and mdtest read a path with this character as a list of paths."""
_COMPLAINTS: Final = (
    re.compile(r"^ERROR: (.+)", re.MULTILINE | re.IGNORECASE),
    re.compile(r"^WARNING: (\w+\(.*\) failed .+)", re.MULTILINE),
    re.compile(r"^Error (invalid argument.*)", re.MULTILINE),
    re.compile(r"^YOUR APPLICATION TERMINATED WITH THE EXIT STRING: (.+)", re.MULTILINE),
)
"""The most informative first: after a full file system only a warning names the errno, and an assertion follows."""

PROGRAM_PER_NODE: Final = Option.of("program_per_node")
"""Above 0 if each node of a gang starts its own program, see `WorkloadAnnouncement.own_programs`."""

Argument = Annotated[str, Field(min_length=1)]


def _check_launcher(launcher: tuple[str, ...]) -> tuple[str, ...]:
    if launcher and sum(_TASKS in argument for argument in launcher) != 1:
        raise ValueError(f"write {_TASKS} once, where the launcher takes the number of tasks")
    return launcher


def tasks_of(node_tasks: int, place: Place) -> int:
    """Return the tasks of the program on all its nodes."""
    return place.layout.tasks if place.layout else node_tasks


class MpiSettings(Settings):
    """How this node starts the program.

    Attributes:
        launcher: arguments before the program's own, with `{tasks}` for the number of tasks, for instance `["mpirun",
            "--oversubscribe", "-n", "{tasks}"]`; empty without MPI, for single tasks.
        program: the program, if it is not on PATH under its own name.
    """

    launcher: Annotated[tuple[Argument, ...], AfterValidator(_check_launcher)] = ("mpirun", "-n", _TASKS)
    program: Argument | None = None


class MpiWorkload(Workload[OptionsT]):
    settings_type: ClassVar[type[Settings]] = MpiSettings
    version_in_usage: ClassVar[bool] = True

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._mpi = MpiSettings.model_validate(settings or {})

    def version_commands(self) -> tuple[tuple[str, ...], ...]:
        """Return the help command without the launcher, which may fail if a program exits before MPI_Finalize."""
        launcher = ((self._mpi.launcher[0], "--version"),) if self._mpi.launcher else ()
        return ((self._program(), "-h"), *launcher)

    def command(self, tasks: int, place: Place) -> tuple[str, ...]:
        """Return launcher and program for tasks on this node, or the program alone for one over several nodes."""
        if _LIST_MARK in str(place.directory):
            raise PlanRefusedError(
                f"{self.tool} reads {place.directory} as a list because of its {_LIST_MARK}; approve one without it"
            )
        if place.layout:
            # The head's runner puts its launcher before the program.
            return (self._program(),)
        if self._mpi.launcher:
            return (*(argument.replace(_TASKS, str(tasks)) for argument in self._mpi.launcher), self._program())
        if tasks > 1:
            raise PlanRefusedError(
                f"option tasks = {tasks}: this node starts single tasks only; set launcher in "
                f"[workloads.{self.name}] of its agent.toml"
            )
        return (self._program(),)

    @abstractmethod
    def is_whole(self, outcome: StepOutcome) -> bool:
        """True if the output has the program's own end mark."""

    def failure(self, outcome: StepOutcome) -> str | None:
        """Return an error message, or a missing end mark: launchers exit with status 0 after killed tasks."""
        text = f"{outcome.stdout}\n{outcome.stderr}"
        complaint = next(filter(None, (pattern.search(text) for pattern in _COMPLAINTS)), None)
        if complaint is not None:
            return f"{self.tool}: {complaint[1]}"
        unfinished = (
            None if self.is_whole(outcome) else f"{self.tool} ended with status 0, but its output is incomplete"
        )
        return super().failure(outcome) or unfinished

    def _program(self) -> str:
        return self._mpi.program or str(self.tool)
