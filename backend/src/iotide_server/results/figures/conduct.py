"""How the runs of a campaign were measured: caches, exclusivity, other load, unanswered checks."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.results.ingest.unjudged import IDLE_SECONDS
from iotide_wire.checks import CHECKS
from iotide_wire.measured import Check, FlagCode

MOST_NAMED: Final = 20  # run ids in one line; `runs` counts all
_IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})
_DONE: Final = {
    "drop": "page cache emptied before each read",
    "drop_files": "only the run's own files dropped from the page cache; the agent may not empty it",
    "remount": "targets unmounted and mounted again before each read",
    "larger_than_memory": "cache not emptied before reads; data at least twice the memory",
    "sync": "cache not emptied before reads",
    "none": "cache not emptied before reads",
}
_COLD: Final = frozenset({"drop", "drop_files", "remount", "larger_than_memory"})
_NOT_MEASURED: Final = "not measured"
_SEEN: Final = {
    (True, True): "none found before and during the run",
    (True, False): "none found before the run; not measured during it",
    (False, True): "none found during the run; not measured before it",
    (False, False): _NOT_MEASURED,
}
_SHARE_LIMIT: Final = 0.10
_READ_WORDS: Final = ("read", "looking up", "stat", "verif")
"""Words in the names of steps that read without emptying a cache first."""


class ConductLine(Output):
    words: Annotated[str, Field(examples=["page cache emptied before each read"])]
    runs: int
    run_ids: Annotated[list[int], Field(description="The first 20 runs")]


class Conduct(Output):
    """How the finished runs of a campaign were measured, most common first.

    Only in `not_judged` may a run be in several lines.
    """

    runs: Annotated[int, Field(description="Finished runs that measure")]
    cache: list[ConductLine]
    exclusivity: list[ConductLine]
    other_load: list[ConductLine]
    load_not_measured: Annotated[int, Field(description="Runs without a measurement of other load on the nodes")]
    not_judged: list[ConductLine]


@dataclass(frozen=True, slots=True)
class RunConduct:
    id: int
    flags: frozenset[str]
    # None if its agents did not report them
    not_judged: Sequence[Mapping[str, Any]] | None = None
    fstypes: frozenset[str] = frozenset()
    # as stored: `name`, `phase`, `before_done`
    steps: Sequence[Mapping[str, Any]] = ()
    foreign: Sequence[Mapping[str, Any] | None] = ()
    leases: frozenset[tuple[str, str]] = frozenset()
    overlapping: int = 0  # other runs on its nodes or shared targets at the same time
    observers: Sequence[str] = field(default=())


def conduct(runs: Sequence[RunConduct]) -> Conduct:
    return Conduct(
        runs=len(runs),
        cache=_lines(runs, lambda run: [cache_words(run)]),
        exclusivity=_lines(runs, lambda run: [exclusivity_words(run)]),
        other_load=_lines(runs, lambda run: [load_words(run)]),
        # Not by the flag, which older runs and campaigns that ignore other load lack.
        load_not_measured=sum(load_words(run) == _NOT_MEASURED for run in runs),
        not_judged=_lines(runs, _unjudged_titles),
    )


def cache_words(run: RunConduct) -> str:
    done = {step.get("before_done") for step in run.steps}
    before_reads = {step.get("before_done") for step in run.steps if _reads(step)}
    if not before_reads:
        return "no reads" if run.steps else "not recorded"
    if None in done:
        return "not recorded by this version of the agent"
    found = dict.fromkeys(_DONE.get(str(kind), str(kind)) for kind in sorted(map(str, before_reads)))
    words = "; ".join(found)
    memory = sorted(run.fstypes & _IN_MEMORY)
    if memory and run.fstypes <= _IN_MEMORY:
        return f"{', '.join(memory)} keeps all data in memory and cannot be emptied"
    return f"{words}; {', '.join(memory)} cannot be emptied" if memory else words


def _reads(step: Mapping[str, Any]) -> bool:
    said = f"{step.get('name')} {step.get('phase')}".lower()
    return step.get("before_done") in _COLD or any(word in said for word in _READ_WORDS)


def exclusivity_words(run: RunConduct) -> str:
    exclusive = {kind for kind, mode in run.leases if mode == "exclusive"}
    if not run.leases:
        words = "not recorded"
    elif "cluster" in exclusive:
        words = "whole cluster reserved"
    elif {"node", "target"} <= exclusive:
        words = "nodes and targets reserved"
    elif "node" in exclusive:
        words = "nodes reserved"
    else:
        words = "nothing reserved"
    together = {0: "no concurrent runs", 1: "1 concurrent run"}.get(run.overlapping)
    words += f"; {together or f'{run.overlapping} concurrent runs'}" if run.leases else ""
    return words + (f"; observed by {', '.join(run.observers)}" if run.observers else "")


def load_words(run: RunConduct) -> str:
    if FlagCode.FOREIGN_LOAD in run.flags:
        return "other load found"
    if not run.foreign or None in run.foreign:
        return _NOT_MEASURED if FlagCode.LOAD_NOT_MEASURED in run.flags else "not recorded"
    measured = [one for one in run.foreign if one is not None]
    if any((one.get("before") or {}).get("excess") or _is_shared(one.get("during") or {}) for one in measured):
        return "other load found, ignored as planned"
    before = all(_was_sampled(one.get("before") or {}) for one in measured)
    during = all((one.get("during") or {}).get("cpu_ratio") is not None for one in measured)
    return _SEEN[before, during]


def _is_shared(during: Mapping[str, Any]) -> bool:
    return any((during.get(name) or 0.0) > _SHARE_LIMIT for name in ("cpu_ratio", "storage_ratio"))


def _was_sampled(before: Mapping[str, Any]) -> bool:
    return (before.get("seconds") or 0.0) >= IDLE_SECONDS and before.get("cpu_ratio") is not None


def _unjudged_titles(run: RunConduct) -> Iterable[str]:
    if run.not_judged is None:
        return ["not reported by this version of the agent"]
    return dict.fromkeys(CHECKS[Check(one["check"])].title for one in run.not_judged)


def _lines(runs: Sequence[RunConduct], words_of: Callable[[RunConduct], Iterable[str]]) -> list[ConductLine]:
    alike: dict[str, list[int]] = defaultdict(list)
    for run in runs:
        for words in words_of(run):
            alike[words].append(run.id)
    ordered = sorted(alike.items(), key=lambda item: (-len(item[1]), item[1]))
    return [ConductLine(words=words, runs=len(ids), run_ids=ids[:MOST_NAMED]) for words, ids in ordered]
