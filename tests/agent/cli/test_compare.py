"""`iotide compare` against a fake server."""

import json
from typing import Any

import pytest
from factories.commands import run
from factories.fake_server import FakeServer

CELL = {
    "campaign_id": 12,
    "cell_id": 1,
    "ordinal": 1,
    "workload": "dd",
    "options": {},
    "node_names": ["n1"],
    "target_names": ["nfs"],
    "variant": "",
}
METRIC: dict[str, Any] = {
    "metric": "throughput",
    "title": "Throughput",
    "labels": {"operation": "write"},
    "target_name": None,
    "n_a": 5,
    "n_b": 6,
    "verdict": "higher",
    "words": "B 8.0 to 15.2 % higher",
    "median_ratio": 1.11,
    "ratio": 1.112,
    "low": 1.08,
    "high": 1.152,
    "p_value": 0.0079,
    "is_discovery": True,
    "basis": "runs",
    "basis_words": "error from the scatter of the runs",
    "looks": 1,
}
ONE_DAY = "measured on one day each: the day may be the cause"
PAIR = {"a": CELL, "b": CELL | {"campaign_id": 13, "target_names": ["xfs"]}, "is_alike": True, "metrics": [METRIC]}
TARGETS = {"name": "targets", "a": "nfs", "b": "xfs"}


SIDE = {"n": 4, "median": 3.1e8, "values": [], "run_ids": [], "flags": [], "modes": None}
VERDICT = METRIC | {"words": "290 to 840 % higher", "ratio": 4.8, "low": 2.9, "high": 8.4, "p_value": 0.0286}
OF_SIDES = METRIC | {
    "unit": "bytes_per_second",
    "is_primary": True,
    "numbers": [SIDE, SIDE | {"median": 1.5e9}],
    "verdicts": [None, VERDICT | {"runs_missing": 0, "reasons": []}],
}
SYSTEM_TIME = OF_SIDES | {
    "title": "System time",
    "unit": "seconds",
    "is_primary": False,
    "numbers": [SIDE | {"median": 0.2}, SIDE | {"median": 0.1}],
}
SIDES: dict[str, Any] = {
    "by": "target",
    "dimensions": ["target", "options.file_size_bytes"],
    "sides": ["disk", "shm"],
    "against": 0,
    "rows": [{"workload": "dd", "options": {}, "cells": [], "differences": [], "metrics": [OF_SIDES, SYSTEM_TIME]}],
    "sides_left_out": [],
    "rows_left_out": 0,
}


def compared(*metrics: dict[str, Any], **changes: object) -> dict[str, Any]:
    pair = PAIR | {"differences": [TARGETS], "metrics": list(metrics)} | changes
    return {"pairs": [pair], "only_a": [], "only_b": [2, 3]}


def test_differences_stand_first_then_words_with_runs_interval_and_p(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.on("GET /comparison?a=12&b=13", (200, compared(METRIC)))
    assert run("compare", "12", "13") == 0
    assert capsys.readouterr().out.splitlines() == [
        "A: campaign 12, configuration 1: dd on n1, nfs",
        "B: campaign 13, configuration 1: dd on n1, xfs",
        "  differs in targets: nfs -> xfs",
        "  Throughput (Operation write): B 8.0 to 15.2 % higher; n = 5 and 6, ratio 1.11 [1.08, 1.15], p = 0.0079",
        "",
        "configurations without a counterpart, of B: 2, 3",
    ]


def test_few_runs_have_no_interval_and_unlike_setups_a_warning(
    server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    few = METRIC | {"n_b": 2, "verdict": "few_runs", "words": "2 runs: too few", "ratio": None, "p_value": None}
    one = few | {"n_b": 1, "median_ratio": None, "words": "1 run"}
    server.on("GET /comparison?a=12&a_cell=1&b=13&b_cell=4", (200, compared(few, one, is_alike=False)))
    assert run("compare", "12:1", "13:4") == 0
    output = capsys.readouterr().out
    assert "these configurations differ; the ratios may not be meaningful" in output
    assert "2 runs: too few; n = 5 and 2, ratio of medians 1.11\n" in output
    assert "1 run; n = 5 and 1\n" in output


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({}, "[1.08, 1.15], p = 0.0079\n"),
        ({"p_value": None, "is_discovery": None, "verdict": "not_judged"}, "[1.08, 1.15]\n"),
        ({"basis": "one_day", "basis_words": ONE_DAY, "p_value": None}, f"[1.08, 1.15]; {ONE_DAY}\n"),
        ({"looks": 3}, "p = 0.0079; look 3, after repeats were added: limits are stricter\n"),
        ({"basis": "pairs", "basis_words": "from pairs", "looks": 2}, "p = 0.0079; from pairs; look 2, after repeats"),
    ],
    ids=["runs", "not judged", "one day", "looks", "pairs"],
)
def test_the_error_of_a_verdict_is_named_unless_it_is_the_scatter_of_the_runs(
    changes: dict[str, Any], end: str, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.on("GET /comparison?a=12&b=13", (200, compared(METRIC | changes)))
    assert run("compare", "12", "13") == 0
    assert end in capsys.readouterr().out


def test_cells_without_a_common_number_are_reported(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.on("GET /comparison?a=12&a_cell=1&b=12&b_cell=2", (200, compared(is_alike=False)))
    assert run("compare", "12:1", "12:2") == 0
    assert "no metric that both have with the same labels" in capsys.readouterr().out


def test_as_json_it_is_the_answer_of_the_server(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.on("GET /comparison?a=12&b=13", (200, compared(METRIC)))
    assert run("compare", "12", "13", "--json") == 0
    assert json.loads(capsys.readouterr().out) == compared(METRIC)


def test_a_refusal_of_the_server_ends_with_status_2(server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    error = {"code": "nothing_alike", "message": "no cells", "field": "a", "value": 12, "remedy": "name a cell"}
    server.on("GET /comparison?a=12&b=13", (422, {"error": error}))
    assert run("compare", "12", "13") == 2
    assert "name a cell" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", ["twelve", "0", "12:", "12:0", "-1", "12:1:1"])
def test_an_unknown_campaign_or_cell_ends_with_status_2(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", "--", wrong, "13") == 2
    assert "CAMPAIGN:CELL" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("by", "asked"),
    [("target", "target"), ("node", "node"), ("file_size_bytes", "options.file_size_bytes")],
)
def test_sides_of_one_campaign_are_asked_for_by_target_node_or_option(
    by: str, asked: str, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.on(f"GET /comparison/sides?campaign=12&by={asked}", (200, SIDES))
    assert run("compare", "12", "--by", by) == 0
    assert capsys.readouterr().out.splitlines() == [
        "by target, relative to disk",
        "dd",
        "  Throughput (Operation write)",
        "    disk: 310 MB/s, n = 4",
        "    shm: 1.5 GB/s; 290 to 840 % higher; n = 4 and 4, ratio 4.80 [2.90, 8.40], p = 0.0286",
        "  System time (Operation write)",
        "    disk: 200 ms, n = 4",
        "    shm: 100 ms; 290 to 840 % higher; n = 4 and 4, ratio 4.80 [2.90, 8.40], p = 0.0286",
    ]


def test_one_configuration_has_no_sides(capsys: pytest.CaptureFixture[str], server: FakeServer) -> None:
    del server
    assert run("compare", "12:1") == 2
    assert "one configuration has no sides" in capsys.readouterr().err
