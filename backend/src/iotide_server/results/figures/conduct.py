"""How the runs of a campaign were really measured, in words: caches, exclusivity, other load, checks without answer.

The plan says what was wanted; this says what was done, with the runs that differ named.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.results.ingest.unjudged import IDLE_SECONDS
from iotide_wire.checks import CHECKS
from iotide_wire.measured import Check, FlagCode

MOST_NAMED: Final = 20  # runs named in one line; `runs` counts all of them
_IN_MEMORY: Final = frozenset({"tmpfs", "ramfs"})
_DONE: Final = {
    "drop": "page cache emptied before each read",
    "drop_files": "only the run's own files dropped from the page cache, since the agent may not empty it",
    "remount": "targets unmounted and mounted again before each read",
    "larger_than_memory": "cache not emptied before reads; data of at least twice the memory",
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
_SHARE_LIMIT: Final = 0.10  # as the agent's judgement of other load has it
_READ_WORDS: Final = ("read", "looking up", "stat", "verif")
"""In the names and phases of steps that read, where nothing was to be emptied before them."""


class ConductLine(Output):
    """Runs that were measured alike in one respect."""

    words: Annotated[str, Field(examples=["page cache emptied before each read"])]
    runs: int
    run_ids: Annotated[list[int], Field(description="The first 20 of them")]


class Conduct(Output):
    """How the finished runs of a campaign were measured; in each list the most common comes first.

    `not_judged` counts runs in which a check had no answer; the other lists name each run once.
    """

    runs: Annotated[int, Field(description="Finished runs")]
    cache: list[ConductLine]
    exclusivity: list[ConductLine]
    other_load: list[ConductLine]
    load_not_measured: Annotated[int, Field(description="Runs of which nobody can tell whether others used the nodes")]
    not_judged: list[ConductLine]


@dataclass(frozen=True, slots=True)
class RunConduct:
    """What is known of how one finished run was measured."""

    id: int
    flags: frozenset[str]  # codes
    # checks without an answer; None where its agents did not report that
    not_judged: Sequence[Mapping[str, Any]] | None = None
    fstypes: frozenset[str] = frozenset()  # of its targets
    steps: Sequence[Mapping[str, Any]] = ()  # of all its nodes that load, as stored: `name`, `phase`, `before_done`
    foreign: Sequence[Mapping[str, Any] | None] = ()  # `foreign_load` of each of these nodes
    leases: frozenset[tuple[str, str]] = frozenset()  # kinds and modes that its nodes held
    overlapping: int = 0  # other runs that loaded one of its nodes or shared targets meanwhile
    observers: Sequence[str] = field(default=())  # nodes that watched


def conduct(runs: Sequence[RunConduct]) -> Conduct:
    """Return how these runs were measured."""
    return Conduct(
        runs=len(runs),
        cache=_lines(runs, lambda run: [cache_words(run)]),
        exclusivity=_lines(runs, lambda run: [exclusivity_words(run)]),
        other_load=_lines(runs, lambda run: [load_words(run)]),
        # Not by the flag alone: runs of before the flag, and of campaigns that ignore other load, do not have it.
        load_not_measured=sum(load_words(run) == _NOT_MEASURED for run in runs),
        not_judged=_lines(runs, _unjudged_titles),
    )


def cache_words(run: RunConduct) -> str:
    """Describe how caches were emptied before the reads of a run."""
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
        return f"{', '.join(memory)} keeps all data in memory; nothing can empty it"
    return f"{words}; {', '.join(memory)} cannot be emptied" if memory else words


def _reads(step: Mapping[str, Any]) -> bool:
    said = f"{step.get('name')} {step.get('phase')}".lower()
    return step.get("before_done") in _COLD or any(word in said for word in _READ_WORDS)


def exclusivity_words(run: RunConduct) -> str:
    """Describe which resources a run had reserved, by its leases, and which runs shared them."""
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
    together = {0: "no other run there", 1: "1 other run there"}.get(run.overlapping)
    words += f"; {together or f'{run.overlapping} other runs there'}" if run.leases else ""
    return words + (f"; watched by {', '.join(run.observers)}" if run.observers else "")


def load_words(run: RunConduct) -> str:
    """Describe the other load that was seen on the nodes of a run."""
    if FlagCode.FOREIGN_LOAD in run.flags:
        return "other load found"
    if not run.foreign or None in run.foreign:
        return _NOT_MEASURED if FlagCode.LOAD_NOT_MEASURED in run.flags else "not recorded"
    told = [one for one in run.foreign if one is not None]
    if any((one.get("before") or {}).get("excess") or _is_shared(one.get("during") or {}) for one in told):
        return "other load found and ignored, as the plan says"
    before = all(_was_sampled(one.get("before") or {}) for one in told)
    during = all((one.get("during") or {}).get("cpu_ratio") is not None for one in told)
    return _SEEN[before, during]


def _is_shared(during: Mapping[str, Any]) -> bool:
    """Return true where others used more of the node during a run than the agent lets pass without a mark."""
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
