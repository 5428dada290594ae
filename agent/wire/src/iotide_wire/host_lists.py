"""Host lists as administrators write them: `node[001-128],login[1-2]`, as in Slurm, Flux, pdsh and ClusterShell."""

import re
from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Final

MOST_HOSTS: Final = 10_000
GROUP: Final = "@"
_PART: Final = re.compile(r"(?:[^,\[\]]|\[[^\[\]]*\])+")
_PIECE: Final = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?:/(\d{1,9}))?)?", re.ASCII)


class HostListError(ValueError):
    pass


def hosts_of(given: object) -> object:
    """Return the hosts of a host list, or of a list of names and host lists; anything else as it is.

    A name in a list stays, even twice, so that the error about it is that of the plan. Raise HostListError.
    """
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list):
        return given
    hosts: list[object] = []
    for text in texts:
        if isinstance(text, str) and text.startswith(GROUP):
            message = (
                f'"{text[:100]}" is a group of nodes, and only the command `iotide` knows groups, by ClusterShell;'
                " submit the file with it, or write the nodes"
            )
            raise HostListError(message)
        is_list = isinstance(text, str) and not set("[],").isdisjoint(text)
        hosts += expand(str(text), most=MOST_HOSTS, after=len(hosts)) if is_list else [text]
    return hosts


def expand(text: str, *, most: int = MOST_HOSTS, after: int = 0) -> list[str]:
    """Return the hosts in order of mention, each once; raise HostListError, also for more than `most` of them.

    `after` is the number of hosts that precede them.

    `[01-10]` keeps the leading zeros, `[0-10/2]` counts in steps. A host may have several ranges.
    """
    hosts: dict[str, None] = {}
    for part in _parts(text):
        pieces: list[_Numbers | list[str]] = [
            [found[2]] if found[1] is None else _Numbers([_range(one.strip()) for one in found[1].split(",")])
            for found in _PIECE.finditer(part)
        ]
        if after + len(hosts) + prod(len(piece) for piece in pieces) > most:
            message = f'with "{text[:100]}" there are more than {most} hosts; name fewer'
            raise HostListError(message)
        hosts |= dict.fromkeys(map("".join, product(*pieces)))
    return list(hosts)


def _parts(text: str) -> Iterator[str]:
    end = 0
    for found in _PART.finditer(text):
        if text[end : found.start()].strip() not in {"", ","}:
            raise _unclosed(text)
        end = found.end()
        if found[0].strip():
            yield found[0].strip()
    if text[end:].strip(" ,"):
        raise _unclosed(text)


def _unclosed(text: str) -> HostListError:
    return HostListError(f'"{text[:100]}" has a bracket without its partner; write for instance node[001-128]')


class _Numbers:
    """Numbers of one pair of brackets, counted before they are made."""

    def __init__(self, ranges: list[tuple[range, int]]) -> None:
        self._ranges = ranges

    def __len__(self) -> int:
        return sum(len(numbers) for numbers, _ in self._ranges)

    def __iter__(self) -> Iterator[str]:
        return (str(number).zfill(width) for numbers, width in self._ranges for number in numbers)


def _range(piece: str) -> tuple[range, int]:
    match = _RANGE.fullmatch(piece)
    if match is None:
        message = f'"{piece[:100]}" is no range of numbers; write for instance 001-128, 0-10/2 or 7'
        raise HostListError(message)
    first, last, step = match[1], match[2] or match[1], int(match[3] or 1)
    if int(last) < int(first) or step == 0:
        message = f'"{piece}" has no numbers; write the smaller number first, and a step of at least 1'
        raise HostListError(message)
    return range(int(first), int(last) + 1, step), len(first) if first.startswith("0") else 1
