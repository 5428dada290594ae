"""Base class of probes."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import ClassVar, Final

from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, Reader, Unavailable, Want
from iotide_wire.facts import Facts, FactValue

Texts = Mapping[Want, str | Unavailable]
"""Texts read so far; a missing one is not requested yet."""

MAX_ROUNDS: Final = 24
"""A stack of block devices needs two rounds per layer, an iSCSI disk a few more. Deeper stacks are cut off."""
_TOO_MANY_DIGITS: Final = 19
_DECIMAL: Final = re.compile(r"\d{1,12}(\.\d{1,12})?", re.ASCII)


class Probe(ABC):
    """Probe for one kind of file system or the layers below it. Probes do no I/O themselves.

    A changed fact becomes an event on its series, so varying values, such as free space, are no facts.
    """

    name: ClassVar[str]

    def matches(self, mount: Mount) -> bool:
        """Check if this probe has facts of `mount`; by default if the type is its name. Several probes may match."""
        return mount.fstype == self.name

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        """Return what to read, by default nothing; called again with the texts until it returns nothing new."""
        return ()

    @abstractmethod
    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """Return the facts in base units; "unavailable, because ..." if a tool is missing."""


def on_mount(package: str, *argv: str) -> Callable[[Mount], CommandWant]:
    """Return a factory of the command for a mount; placeholders such as `{0.directory}` are its attributes."""
    return lambda mount: CommandWant(tuple(word.format(mount) for word in argv), package)


class CommandProbe(Probe):
    """If it fails, `fact` has the reason."""

    package: ClassVar[str]
    argv: ClassVar[tuple[str, ...]]
    fact: ClassVar[str]

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield on_mount(self.package, *self.argv)(mount)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        printed = texts.get(next(iter(self.wants(mount, texts))), Unavailable(f"{self.argv[0]} was not asked"))
        return {self.fact: unavailable_fact(printed)} if isinstance(printed, Unavailable) else self.read(printed)

    @abstractmethod
    def read(self, printed: str) -> Facts:
        pass


def gather(reader: Reader, wants: Callable[[Texts], Iterable[Want]]) -> Texts:
    texts: dict[Want, str | Unavailable] = {}
    for _ in range(MAX_ROUNDS):
        new = [want for want in wants(texts) if want not in texts]
        if not new:
            break
        texts |= {want: reader.read(want) for want in new}
    return texts


def text_of(texts: Texts, want: Want) -> str:
    text = texts.get(want, "")
    return "" if isinstance(text, Unavailable) else text.strip()


def unavailable_fact(reason: Unavailable) -> str:
    return f"unavailable, because {reason.because}"


def named_numbers(text: str) -> dict[str, str]:
    """Parse `KEY=value` lines, as in uevent or os-release."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip().strip('"') for key, _, value in pairs}


def options_of(options: Iterable[str]) -> dict[str, str]:
    return {name: value for name, _, value in (option.partition("=") for option in options)}


def labelled(text: str) -> dict[str, str]:
    """Parse `Label: value` lines; the first of each label counts."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        label, colon, value = line.partition(":")
        if colon:
            found.setdefault(label.strip(), value.strip())
    return found


def number(text: str | None) -> int | None:
    """Return an unsigned integer of at most 63 bits, or None."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < _TOO_MANY_DIGITS else None


def scaled(text: str, factor: int) -> int | None:
    """Return an unsigned decimal number, which may have a fraction, times `factor`, rounded; None for other texts."""
    return round(Decimal(text) * factor) if _DECIMAL.fullmatch(text) else None


def known(found: Mapping[str, FactValue]) -> Facts:
    return {name: value for name, value in found.items() if value not in {None, ""}}
