"""Fuzz target. Imports no fuzzed code: that must be instrumented at its first import."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar


class Target(ABC):
    """One parser.

    Attributes:
        name: for `--parser`.
        choices: number of bytes at the start of an input that choose the use of the rest.
    """

    name: str
    choices: ClassVar[int] = 0

    @abstractmethod
    def seeds(self) -> Iterator[bytes]:
        """Return recorded inputs to begin with."""

    @abstractmethod
    def feed(self, data: bytes) -> None:
        """Parse an input; the errors that the parser promises are caught, all others are raised."""
