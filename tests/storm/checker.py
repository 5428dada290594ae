"""Checker of a storm: compares the loads' own log with the submitted runs and the server's final states."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ENDED = frozenset({"finished", "failed", "cancelled"})
_RUN = re.compile(r"^run (\d+)")


@dataclass(frozen=True)
class AskedRun:
    """A submitted run and its final state on the server.

    Attributes:
        state: the server's final state.
        result_count: nodes of its last attempt with numbers on the server.
        is_cancelled: by the storm, so it may end anywhere.
        frozen: its nodes that were frozen past its time limit, so that their loads need not start or finish.
    """

    id: int
    nodes: frozenset[str]
    state: str
    reason: str | None
    result_count: int
    is_cancelled: bool = False
    frozen: frozenset[str] = frozenset()

    @property
    def is_disturbed(self) -> bool:
        """The run need not finish."""
        return self.is_cancelled or bool(self.frozen)


@dataclass(frozen=True)
class Verdict:
    """Counts of violations; each has its sentences in `found`."""

    runs: int
    loads: int
    finished: int
    failed: int
    cancelled: int
    overlaps: int
    target_violations: int
    double_attempts: int
    partial_gangs: int
    lost: int
    unended: int
    found: Sequence[str] = field(default_factory=tuple)

    @property
    def is_clean(self) -> bool:
        return not self.found

    @property
    def runs_found(self) -> list[int]:
        """Return the runs with violations."""
        return sorted({int(number) for sentence in self.found for number in _RUN.findall(sentence)})


def read_log(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Return the events of the loads, in the order in which they were written."""
    return [json.loads(line) for line in lines]


def judge(asked: Sequence[AskedRun], events: Sequence[Mapping[str, Any]]) -> Verdict:
    """Check every rule against the log."""
    runs = {run.id: run for run in asked}
    starts = [event for event in events if event["event"] == "start"]
    ended = {event["order"] for event in events if event["event"] == "end"}
    found = {
        "overlaps": [
            f"{_name(one)} ran in parallel to another load of its node" for one in starts if not one["is_node_free"]
        ],
        "target_violations": [
            f"{_name(one)} found target {one['target']} taken, but needs it {one['mode']}"
            for one in starts
            if not one["is_target_free"]
        ],
        "double_attempts": _started_twice(runs, starts, ended),
        "partial_gangs": _partial(runs, starts, ended),
        "lost": _lost(runs, starts, ended),
        "unended": [f"run {run.id} is {run.state}: {run.reason}" for run in asked if run.state not in ENDED],
    }
    states = Counter(run.state for run in asked)
    return Verdict(
        runs=len(asked),
        loads=len(starts),
        finished=states["finished"],
        failed=states["failed"],
        cancelled=states["cancelled"],
        found=tuple(sentence for sentences in found.values() for sentence in sentences),
        **{name: len(sentences) for name, sentences in found.items()},
    )


def _started_twice(
    runs: Mapping[int, AskedRun], starts: Sequence[Mapping[str, Any]], ended: frozenset[int] | set[int]
) -> list[str]:
    """Find orders that were started twice, and runs that were retried although all their loads had finished.

    If one node of a gang could not finish, the others' loads are done, and the run is rightly retried.
    """
    orders = Counter(start["order"] for start in starts)
    twice = [f"order {order} was started {count} times" for order, count in orders.items() if count > 1]
    attempts: dict[int, set[int]] = defaultdict(set)
    for start in starts:
        attempts[start["run"]].add(start["attempt"])
    again = [
        f"run {run} was started again after attempt {attempt} had finished"
        for (run, attempt), nodes in sorted(_came_through(starts, ended).items())
        if nodes == runs[run].nodes and not runs[run].is_disturbed and max(attempts[run]) > attempt
    ]
    return twice + again


def _came_through(
    starts: Sequence[Mapping[str, Any]], ended: frozenset[int] | set[int]
) -> Mapping[tuple[int, int], set[str]]:
    """Return the nodes on which loads finished, by run and attempt."""
    through: dict[tuple[int, int], set[str]] = defaultdict(set)
    for start in starts:
        if start["order"] in ended:
            through[start["run"], start["attempt"]].add(start["node"])
    return through


def _partial(
    runs: Mapping[int, AskedRun], starts: Sequence[Mapping[str, Any]], ended: frozenset[int] | set[int]
) -> list[str]:
    """Find attempts in which one load finished while a node that was not frozen never started its load."""
    nodes: dict[tuple[int, int], set[str]] = defaultdict(set)
    came_through: set[tuple[int, int]] = set()
    for start in starts:
        nodes[start["run"], start["attempt"]].add(start["node"])
        if start["order"] in ended:
            came_through.add((start["run"], start["attempt"]))
    return [
        f"run {run}, attempt {attempt}: {sorted(runs[run].nodes - nodes[run, attempt])} never started"
        for run, attempt in sorted(came_through)
        if not runs[run].is_cancelled and runs[run].nodes - nodes[run, attempt] - runs[run].frozen
    ]


def _lost(
    runs: Mapping[int, AskedRun], starts: Sequence[Mapping[str, Any]], ended: frozenset[int] | set[int]
) -> list[str]:
    """Find loads that finished on all nodes without numbers on the server, and numbers without a load."""
    whole = {run for (run, _), nodes in _came_through(starts, ended).items() if nodes == runs[run].nodes}
    lost = []
    for run in runs.values():
        if run.id in whole and not run.is_disturbed and run.state != "finished":
            lost.append(f"run {run.id} finished on all nodes and is {run.state}: {run.reason}")
        if run.state == "finished" and run.id not in whole:
            lost.append(f"run {run.id} is finished, and not all of its loads finished")
        if run.state == "finished" and run.result_count != len(run.nodes):
            lost.append(f"run {run.id} is finished with numbers of {run.result_count} of {len(run.nodes)} nodes")
    return lost


def _name(start: Mapping[str, Any]) -> str:
    return f"run {start['run']}, attempt {start['attempt']} on {start['node']}"
