"""Commands that MPI launchers and IOzone give to their remote shell, read without a shell."""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final, NamedTuple

MOST_WORDS: Final = 1024
MOST_BYTES: Final = 32_768

_HOST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}")
_SKIPPED: Final = frozenset({"-n", "-x"})
"""Options of a remote shell: without standard input, without X11."""
_PLAIN: Final = re.compile(r"[ -~]*")
_REFUSED: Final = frozenset("$`&|<>\\~#*?{}")
"""A shell would expand, redirect or separate at these, or glob; no recorded form has one in its last statement."""
_PROFILE: Final = "test ! -r ./.profile || . ./.profile"
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]+=[^\s;()`&|<>\"']*|export [A-Za-z_]+")
_URI: Final = re.compile(r"[^;:/]*(;tcp://[^:;/]+:[0-9,]+(:[0-9]+)?)+")
_URI_HOSTS: Final = re.compile(r"tcp://([^:]+):")


class StartRefusal(StrEnum):
    """Reasons to start nothing, as counted in the records of a run."""

    SIZE = "size"
    CHARACTER = "character"
    HOST = "host"
    QUOTES = "quotes"
    STATEMENT = "statement"
    PROGRAM = "program"
    CONTROL_ADDRESS = "control_address"
    DAEMON = "daemon"
    BUSY = "busy"
    STEP = "step"


class StartRefusedError(Exception):
    def __init__(self, refusal: StartRefusal, reason: str) -> None:
        super().__init__(reason)
        self.refusal = refusal


class RemoteCommand(NamedTuple):
    host: str
    argv: tuple[str, ...]


class Allowance(NamedTuple):
    """Remote parts that a member starts.

    Attributes:
        programs: Absolute paths, from agent.toml of this node.
        head_names: Addresses and host names of the head; a remote part connects to no other.
    """

    programs: tuple[str, ...]
    head_names: tuple[str, ...]

    def check(self, argv: Sequence[str]) -> None:
        """Raise StartRefusedError unless the part is allowed here and connects to the head only."""
        kind = _kind(argv)
        if kind.is_daemon(argv):
            reason = f"{argv[0]} would leave its session; start the launcher with --leave-session-attached"
            raise StartRefusedError(StartRefusal.DAEMON, reason)
        for program in kind.programs(argv):
            if program not in {_plain_path(allowed) for allowed in self.programs}:
                reason = f"{program} is not in `programs` of [mpi] in agent.toml of this node; allowed: "
                raise StartRefusedError(StartRefusal.PROGRAM, reason + (", ".join(self.programs) or "none"))
        if kind.starts_others(argv):
            reason = f"{argv[0]} would start further clients with {kind.starting_option}"
            raise StartRefusedError(StartRefusal.PROGRAM, reason)
        if spelled := kind.otherwise_spelled(argv):
            reason = f"{argv[0]} would take a control address from {spelled[:80]!r}, which no launcher writes so"
            raise StartRefusedError(StartRefusal.CONTROL_ADDRESS, reason)
        addresses = kind.control_addresses(argv)
        if not addresses or not set(addresses) <= set(self.head_names):
            reason = f"{argv[0]} would connect to {', '.join(addresses) or 'an unknown address'}, not to the head: "
            raise StartRefusedError(StartRefusal.CONTROL_ADDRESS, reason + ", ".join(self.head_names))

    def lingers(self, argv: Sequence[str]) -> bool:
        """Return true for a part that leaves a child and ends at once, as IOzone's client does."""
        return _kind(argv).lingers


def read_remote_command(words: Sequence[str]) -> RemoteCommand:
    """Return the host and the command of a remote shell's arguments; raise StartRefusedError.

    The arguments have one of five recorded forms, or only quoting and assignments around them that no shell needs.
    """
    if len(words) > MOST_WORDS or sum(len(word) + 1 for word in words) > MOST_BYTES:
        raise StartRefusedError(StartRefusal.SIZE, f"more than {MOST_WORDS} words or {MOST_BYTES} bytes")
    if not all(_PLAIN.fullmatch(word) for word in words):
        raise StartRefusedError(StartRefusal.CHARACTER, "a word has a control character, or one outside ASCII")
    waiting = [*words]
    host = next(iter(_without_options(waiting)), "")
    if not _HOST.fullmatch(host):
        raise StartRefusedError(StartRefusal.HOST, f"{host[:80]!r} is not a host name or an IPv4 address")
    waiting.remove(host)
    *before, last = _statements(" ".join(_without_options(waiting)).strip())
    for statement in before:
        if statement != _PROFILE and not _ASSIGNMENT.fullmatch(statement):
            raise StartRefusedError(StartRefusal.STATEMENT, f"unknown statement {statement[:80]!r} before the command")
    refused = _REFUSED.intersection(last)
    if refused:
        raise StartRefusedError(StartRefusal.CHARACTER, f"the command has {' '.join(sorted(refused))}")
    argv = tuple(_split(last))
    if not argv or not argv[0].startswith("/"):
        named = argv[0][:80] if argv else ""
        reason = f"the command starts with {named!r}, not with the path of a program; name the launcher by its path"
        raise StartRefusedError(StartRefusal.PROGRAM, reason)
    return RemoteCommand(host, (_plain_path(argv[0]), *argv[1:]))


class _Kind(NamedTuple):
    """Remote part.

    Attributes:
        address_word: Before each of its control addresses, in all recorded forms.
        address_names: Options and parameters that would give it such an address, too.
        started: Name of the program that its arguments make it start.
        starting_option: With which it would start commands of its own through a shell.
    """

    address_word: str
    address_names: tuple[str, ...]
    hosts_of: Callable[[str], list[str]]
    lingers: bool = False
    may_leave: bool = False
    started: str = ""
    starting_option: str = ""

    def starts_others(self, argv: Sequence[str]) -> bool:
        option = self.starting_option.removeprefix("-")
        return bool(option) and any(word.startswith("-") and option in word for word in argv[1:])

    def control_addresses(self, argv: Sequence[str]) -> list[str]:
        values = [value for word, value in pairwise(argv) if word == self.address_word]
        return [host for value in values for host in self.hosts_of(value)]

    def otherwise_spelled(self, argv: Sequence[str]) -> str:
        """Return a word that names a control address in another way than the recorded forms, or nothing.

        Hydra also reads `-control-port=HOST:PORT`; Open MPI has options of the same meaning, and shortened ones.
        """
        others = (word for word in argv[1:] if word != self.address_word)
        return next((word for word in others if any(_may_name(word.lower(), name) for name in self.address_names)), "")

    def is_daemon(self, argv: Sequence[str]) -> bool:
        return self.may_leave and any(word.lstrip("-").startswith("daem") for word in argv)

    def programs(self, argv: Sequence[str]) -> list[str]:
        """Return the paths of the part and of what its arguments make it start."""
        if not self.started:
            return [argv[0]]
        named = (word for word in argv[1:] if PurePosixPath(word).name == self.started)
        return [argv[0], _first_argument(argv), *map(_plain_path, named)]


def _kind(argv: Sequence[str]) -> _Kind:
    kind = _KINDS.get(PurePosixPath(argv[0]).name)
    if kind is None:
        reason = f"{argv[0]} is not among {', '.join(_KINDS)}"
        raise StartRefusedError(StartRefusal.PROGRAM, reason)
    return kind


def _may_name(word: str, name: str) -> bool:
    """Check for the name inside a word, and for an option that is its beginning."""
    option = word.lstrip("-").partition("=")[0]
    return name in word or (word.startswith("-") and len(option) > 1 and name.startswith(option))


def _first_argument(argv: Sequence[str]) -> str:
    """Return the first word that is neither an option nor its value: the program that Intel's proxy starts."""
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        at += 2
    return _plain_path(argv[at]) if at < len(argv) else ""


def _host_and_port(value: str) -> list[str]:
    return [value.rpartition(":")[0]]


def _host(value: str) -> list[str]:
    return [value]


def _uri(value: str) -> list[str]:
    # A value without the form of one stays whole and so is not the head's.
    groups = _URI_HOSTS.findall(value) if _URI.fullmatch(value) else [value]
    return [host for group in groups for host in group.split(",")]


_OPEN_MPI_NAMES: Final = ("hnp_uri", "hnp-uri", "parent_uri", "parent-uri", "dvm-master-uri")
_KINDS: Final = {
    "hydra_pmi_proxy": _Kind("--control-port", ("control-port",), _host_and_port),
    "hydra_bstrap_proxy": _Kind("--upstream-host", ("upstream-host",), _host, started="hydra_pmi_proxy"),
    "orted": _Kind("orte_hnp_uri", _OPEN_MPI_NAMES, _uri, may_leave=True),
    "prted": _Kind("prte_hnp_uri", _OPEN_MPI_NAMES, _uri, may_leave=True),
    "iozone": _Kind("-+c", ("+c",), _host, lingers=True, starting_option="-+m"),
}


def _without_options(words: list[str]) -> list[str]:
    """Return the words without a remote shell's options at their start."""
    return words[next((at for at, word in enumerate(words) if word not in _SKIPPED), len(words)) :]


def _statements(text: str) -> Iterator[str]:
    """Yield the statements of a list in parentheses, or of one without them."""
    if text.startswith("("):
        if not text.endswith(")"):
            raise StartRefusedError(StartRefusal.STATEMENT, "a parenthesis is not closed")
        text = text[1:-1]
    quote, begin = "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "()":
            raise StartRefusedError(StartRefusal.STATEMENT, "a parenthesis inside the command")
        elif letter == ";":
            yield text[begin:at].strip()
            begin = at + 1
    yield text[begin:].strip()


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise StartRefusedError(StartRefusal.QUOTES, f"a quote is not closed: {error}") from error


def _plain_path(path: str) -> str:
    """Return the path without doubled slashes, as Intel MPI writes them."""
    return re.sub("/{2,}", "/", path)
