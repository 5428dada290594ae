"""Releases of benchmark programs that workloads read. Readiness refuses older ones before a run is scheduled."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from iotide_wire.measured import Check, NotJudged

_NUMBERS: Final = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class Releases:
    """Releases of one program that a workload reads.

    Attributes:
        program: its name in sentences and documents.
        oldest, newest: read and tested. A node refuses older releases. Newer ones run with a remark in their results.
        mark: part of the version output that another program of the same name lacks.
    """

    program: str
    oldest: str
    newest: str
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.program} {self.oldest} to {self.newest}"


def why_unsupported(version: str, supported: Sequence[Releases], package: str) -> str | None:
    """Return why this installed version cannot be read, with the remedy, or None. An unknown number can be tried."""
    if not supported:
        return None
    releases = _of(version, supported)
    if releases is None:
        known = " or ".join(one.program for one in supported)
        return f"{version!r} is not {known}; install the package {package} on this node"
    number = _number(version)
    if number is None or not _is_before(number, releases.oldest):
        return None
    return f"{releases.program} {number} is too old, {releases.oldest} or newer is needed"


def judge_release(version: str | None, supported: Sequence[Releases]) -> list[NotJudged]:
    """Return the check without an answer if the release is newer than any tested one, or unknown."""
    releases = _of(version, supported) if version is not None else None
    if version is None or releases is None:
        return []
    number = _number(version)
    if number is None:
        because = f"the installed release of {releases.program} is unknown"
    elif _is_before(releases.newest, number):
        because = f"{releases.program} {number} is newer than {releases.newest}, the newest that was tested"
    else:
        return []
    return [NotJudged(check=Check.TOOL_RELEASE, because=because)]


def unread_remedy(version: str | None, supported: Sequence[Releases]) -> str:
    """Return the end of a sentence about unreadable output: the release that printed it, and what to do."""
    printed = f"printed by {version}; " if version is not None else ""
    if judge_release(version, supported):
        return f"{printed}install {' or '.join(map(str, supported))} on the node"
    return f"{printed}read the kept output again with a newer agent: iotide run reparse"


def as_table(workloads: Iterable[tuple[str, Sequence[Releases]]]) -> str:
    head = "| workload | program | oldest release | newest tested release |\n|---|---|---|---|\n"
    rows = (
        f"| `{name}` | {one.program} | {one.oldest} | {one.newest} |\n" for name, known in workloads for one in known
    )
    return head + "".join(rows)


def _of(version: str, supported: Sequence[Releases]) -> Releases | None:
    return next((one for one in supported if one.mark in version), None)


def _number(version: str) -> str | None:
    found = _NUMBERS.search(version)
    return found[0] if found else None


def _is_before(one: str, other: str) -> bool:
    """Compare the parts that both name: 9.1.2 is not after 9.1, and 3.9 is before 3.18."""
    both = ((int(left), int(right)) for left, right in zip(one.split("."), other.split("."), strict=False))
    return next((left < right for left, right in both if left != right), False)
