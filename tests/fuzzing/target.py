"""What can be fuzzed. Imports none of the code that is: that must be instrumented while it is imported first."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar


class Target(ABC):
    """One parser.

    Attributes:
        name: what `--parser` calls it.
        choices: how many bytes at the begin of an input choose what the rest is for.
    """

    name: str
    choices: ClassVar[int] = 0

    @abstractmethod
    def seeds(self) -> Iterator[bytes]:
        """Inputs to begin with: what was recorded."""

    @abstractmethod
    def feed(self, data: bytes) -> None:
        """Has the parser read an input; raises nothing that the parser promises to raise, and all else."""
