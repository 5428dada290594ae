"""Part of a runner in one program over several nodes; `iotide_agent.mpi` has that of a head and of a member."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from iotide_agent.runner.card import Card, GangCard
from iotide_agent.runner.groups import Groups
from iotide_agent.runner.hand import Check, HandLimits, Hands
from iotide_agent.runner.load import Load, Surroundings
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.sampler import Printed, Sampler


class GangPart(ABC):
    """Called in this order, and `check` all the time from `listen` on."""

    @abstractmethod
    def check_programs(self, hands: Hands, limits: HandLimits, check: Check) -> None:
        """Raise RunEndedError if a program of agent.toml is missing, or other users could change it."""

    @abstractmethod
    def listen(self) -> dict[str, Any]:
        """Return the changes of the phase, before the start signal; raise RunEndedError without the address."""

    @abstractmethod
    def meet(self, directories: Sequence[str], hands: Hands, limits: HandLimits, check: Check) -> None:
        """Connect, and prove that all nodes use the same directories; raise RunEndedError."""

    @abstractmethod
    def environment(self) -> dict[str, str]:
        """Return variables for the loads of this node."""

    @abstractmethod
    def make_groups(
        self,
        loop: Loop,
        surroundings: Surroundings,
        make_sampler: Callable[[Printed], Sampler],
        *,
        check: Check,
        note: Callable[[list[Load]], None],
    ) -> Groups:
        """Return groups that run as this part; see `Groups`."""

    @abstractmethod
    def check(self) -> None:
        """Raise RunEndedError if another node is lost."""

    @abstractmethod
    def close(self) -> None:
        """End what runs on the other nodes, and all connections."""

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """Return refusals, processes left over and the longest silence, JSON-ready."""


MakePart = Callable[[Card, GangCard, Path, Loop], GangPart]
