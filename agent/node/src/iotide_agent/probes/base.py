"""What every probe is: which mounts it knows, what it wants read, and how it turns the texts into facts."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Final

from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, Reader, Unavailable, Want
from iotide_wire.facts import Facts, FactValue

Texts = Mapping[Want, str | Unavailable]
"""What was read so far; a want that is missing was not asked for yet."""

MAX_ROUNDS: Final = 24
"""A stack of block devices takes two rounds a layer, and the way to an iSCSI disk some more; deeper ones are cut."""
_TOO_MANY_DIGITS: Final = 19


class Probe(ABC):
    """One kind of file system, or what lies below it; no input or output of its own.

    Facts are what stays the same from run to run until somebody changes the system: free space and counters are none,
    because a fact that changes is an event on every series it belongs to.
    """

    name: ClassVar[str]

    def matches(self, mount: Mount) -> bool:
        """Check whether this probe has anything to say of `mount`, as several may: by default of types of its name."""
        return mount.fstype == self.name

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        """Return what must be read, by default nothing; asked again with what was read until nothing new is wanted."""
        return ()

    @abstractmethod
    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """What the texts say, in base units; "unavailable, because ..." where a tool is absent."""


def on_mount(package: str, *argv: str) -> Callable[[Mount], CommandWant]:
    """Return what makes the command about a mount; `{0.directory}` and the like in it stand for what the mount has."""
    return lambda mount: CommandWant(tuple(word.format(mount) for word in argv), package)


class CommandProbe(Probe):
    """A probe that asks one command; `fact` says why where that gives no answer."""

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
        """Return what the command says, in base units."""


def gather(reader: Reader, wants: Callable[[Texts], Iterable[Want]]) -> Texts:
    """Reads what is wanted, and what is wanted because of it."""
    texts: dict[Want, str | Unavailable] = {}
    for _ in range(MAX_ROUNDS):
        new = [want for want in wants(texts) if want not in texts]
        if not new:
            break
        texts |= {want: reader.read(want) for want in new}
    return texts


def text_of(texts: Texts, want: Want) -> str:
    """The text of a want, stripped; empty where there is none."""
    text = texts.get(want, "")
    return "" if isinstance(text, Unavailable) else text.strip()


def unavailable_fact(reason: Unavailable) -> str:
    """How a fact says that it could not be found out."""
    return f"unavailable, because {reason.because}"


def named_numbers(text: str) -> dict[str, str]:
    """`KEY=value` lines, as in uevent or os-release, quotes around values removed."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip().strip('"') for key, _, value in pairs}


def options_of(options: Iterable[str]) -> dict[str, str]:
    """Mount options by name; those without a value have an empty one."""
    return {name: value for name, _, value in (option.partition("=") for option in options)}


def labelled(text: str) -> dict[str, str]:
    """`Label: value` lines by label, the first of each, without indentation; lines without a colon are left out."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        label, colon, value = line.partition(":")
        if colon:
            found.setdefault(label.strip(), value.strip())
    return found


def number(text: str | None) -> int | None:
    """A whole number without sign that fits into 63 bits, or None."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < _TOO_MANY_DIGITS else None


def known(found: Mapping[str, FactValue]) -> Facts:
    """What was found out; None and an empty text were not."""
    return {name: value for name, value in found.items() if value not in {None, ""}}
