"""Conditions of runs in words, with the names of the runs that differ."""

from dataclasses import replace

import pytest

from iotide_server.results.figures.conduct import (
    MOST_NAMED,
    RunConduct,
    cache_words,
    conduct,
    exclusivity_words,
    load_words,
)

WRITE: dict[str, str | None] = {"name": "write", "phase": "writing", "before_done": "sync"}
ALONE = frozenset({("node", "exclusive"), ("target", "exclusive")})
QUIET = {"before": {"seconds": 5.1, "cpu_ratio": 0.02, "excess": ""}, "during": {"cpu_ratio": 0.01}}

BUSY = {"seconds": 5.0, "excess": "CPUs busy 50%"}


def read(before_done: str | None) -> dict[str, str | None]:
    return {"name": "read", "phase": "reading", "before_done": before_done}


def run(number: int = 1, before_read: str | None = "drop", fstypes: tuple[str, ...] = ("ext4",)) -> RunConduct:
    steps = (WRITE, read(before_read))
    return RunConduct(number, frozenset(), [], frozenset(fstypes), steps, [QUIET], ALONE)


@pytest.mark.parametrize(
    ("measured", "words"),
    [
        (run(), "page cache emptied before each read"),
        (
            run(before_read="drop_files"),
            "only the run's own files dropped from the page cache; the agent may not empty it",
        ),
        (run(before_read="remount"), "targets unmounted and mounted again before each read"),
        (run(before_read="larger_than_memory"), "cache not emptied before reads; data at least twice the memory"),
        (run(before_read="sync"), "cache not emptied before reads"),
        (run(before_read=None), "not recorded by this version of the agent"),
        (run(fstypes=("tmpfs",)), "tmpfs keeps all data in memory and cannot be emptied"),
        (
            run(fstypes=("ext4", "tmpfs")),
            "page cache emptied before each read; tmpfs cannot be emptied",
        ),
        (replace(run(), steps=[WRITE]), "no reads"),
        (replace(run(), steps=()), "not recorded"),
        (
            replace(run(), steps=[{"name": "iozone", "phase": "measuring", "before_done": "drop"}]),
            "page cache emptied before each read",
        ),
    ],
)
def test_cache_handling_is_reported_by_the_steps_and_not_by_the_plan(measured: RunConduct, words: str) -> None:
    assert cache_words(measured) == words


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (run(), "nodes and targets reserved; no concurrent runs"),
        (replace(run(), leases=frozenset({("node", "exclusive")})), "nodes reserved; no concurrent runs"),
        (
            replace(run(), leases=frozenset({("node", "shared")}), overlapping=2),
            "nothing reserved; 2 concurrent runs",
        ),
        (
            replace(run(), leases=frozenset({("cluster", "exclusive")}), observers=["mds1"]),
            "whole cluster reserved; no concurrent runs; observed by mds1",
        ),
        (replace(run(), leases=frozenset()), "not recorded"),
    ],
)
def test_exclusivity_of_a_run_is_reported_by_its_leases_and_its_neighbours(held: RunConduct, words: str) -> None:
    assert exclusivity_words(held) == words


@pytest.mark.parametrize(
    ("flags", "foreign", "words"),
    [
        ({"FOREIGN_LOAD"}, [QUIET], "other load found"),
        ({"LOAD_NOT_MEASURED"}, [None], "not measured"),
        (set(), [QUIET], "none found before and during the run"),
        (set(), [QUIET | {"during": None}], "none found before the run; not measured during it"),
        (set(), [QUIET | {"before": None}], "none found during the run; not measured before it"),
        (set(), [QUIET | {"before": {"seconds": 1.08}, "during": None}], "not measured"),
        (set(), [QUIET, QUIET | {"before": None, "during": None}], "not measured"),
        (
            set(),
            [QUIET | {"before": {"seconds": 5.0, "excess": "x"}}],
            "other load found, ignored as planned",
        ),
        (set(), [None], "not recorded"),
        (set(), [], "not recorded"),
    ],
)
def test_a_run_is_only_called_quiet_where_other_load_was_measured(
    flags: set[str], foreign: list[dict[str, object] | None], words: str
) -> None:
    assert load_words(replace(run(), flags=frozenset(flags), foreign=foreign)) == words


def test_the_most_common_comes_first_and_the_runs_that_differ_are_named() -> None:
    runs = [run(number) for number in range(2019, 2041)]
    runs += [run(number, before_read="drop_files") for number in (2041, 2042)]
    found = conduct(runs)
    assert found.runs == 24
    assert [(line.runs, line.run_ids[:2]) for line in found.cache] == [(22, [2019, 2020]), (2, [2041, 2042])]
    assert len(found.cache[0].run_ids) == MOST_NAMED


def test_checks_without_an_answer_are_counted_once_a_run() -> None:
    steady = {"check": "steadiness", "because": "1 s, 25 needed", "phase": "write"}
    runs = [
        replace(run(1), not_judged=[steady, steady | {"phase": "read"}]),
        replace(run(2), not_judged=[steady]),
        replace(run(3), not_judged=None),
        run(4),
    ]
    assert [(line.words, line.run_ids) for line in conduct(runs).not_judged] == [
        ("steadiness", [1, 2]),
        ("not reported by this version of the agent", [3]),
    ]


def test_a_campaign_without_finished_runs_has_no_report() -> None:
    found = conduct([])
    assert (found.runs, found.load_not_measured) == (0, 0)
    assert found.cache == found.exclusivity == found.other_load == found.not_judged == []


def test_runs_without_a_measured_load_are_counted() -> None:
    flagged = replace(run(1), flags=frozenset({"LOAD_NOT_MEASURED", "DURATION"}), foreign=[None])
    of_before_the_flag = replace(run(2), foreign=[{"before": {"seconds": 0.0, "excess": ""}, "during": None}])
    assert conduct([flagged, of_before_the_flag, run(3)]).load_not_measured == 2
