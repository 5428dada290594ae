"""`iotide campaign wait`, `retry` and `report` against a fake server."""

import json
from pathlib import Path
from typing import Any

import pytest
from factories.commands import Hurried, Iotide
from factories.fake_server import FakeServer

from .responses import CELL, campaign, page
from .test_compare import PAIR, SIDES

NO_SIDES: dict[str, Any] = {
    "by": None,
    "dimensions": [],
    "sides": [],
    "against": 0,
    "rows": [],
    "sides_left_out": [],
    "rows_left_out": 0,
}
FAILED_RUNS = "GET /runs?campaign_id=7&state=failed&limit=200"


@pytest.mark.parametrize(
    ("counts", "status"),
    [({"finished": 4}, 0), ({"finished": 3, "failed": 1}, 1), ({"finished": 3, "cancelled": 1}, 1)],
)
def test_wait_shows_the_progress_and_ends_with_the_status_of_the_runs(
    counts: dict[str, int], status: int, server: FakeServer, iotide: Iotide
) -> None:
    ended_campaign = campaign(list(counts)[-1], **counts)
    server.on("GET /campaigns/7", (200, campaign("active", active=1, waiting=3)), (200, ended_campaign))
    ended = iotide("campaign", "wait", "7")
    assert ended.status == status
    assert "first: 3 waiting, 1 active" in ended.out
    assert f"campaign 7 (first): {counts['finished']} runs finished" in ended.out


@pytest.mark.parametrize(("failed", "status"), [(0, 0), (1, 1)])
def test_makes_are_counted_under_their_own_name_and_a_failed_one_is_no_success(
    failed: int, status: int, server: FakeServer, iotide: Iotide
) -> None:
    none = {"waiting": 0, "active": 0, "finished": 0, "failed": 0, "cancelled": 0}
    works = [none | {"does": "make", "finished": 2}, none | {"does": "clean", "finished": 1 - failed, "failed": failed}]
    server.on(
        "GET /campaigns/7", (200, campaign("failed" if failed else "finished", finished=4) | {"preparations": works})
    )
    ended = iotide("campaign", "wait", "7")
    assert ended.status == status
    words = "1 cleaning (1 failed)" if failed else "1 cleaning"
    assert f"4 runs finished, 0 failed, 0 cancelled; 2 makes, {words}" in ended.out


def test_wait_for_an_unknown_campaign_ends_with_status_2(server: FakeServer, iotide: Iotide) -> None:
    del server
    assert iotide("campaign", "wait", "99").status == 2
    assert iotide("campaign", "wait", "none").status == 2


def test_an_interrupted_wait_leaves_the_campaign_running(
    server: FakeServer, iotide: Iotide, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt(seconds)

    server.on("GET /campaigns/7", (200, campaign("active", active=1)))
    monkeypatch.setattr(Hurried, "sleep", staticmethod(interrupted))
    ended = iotide("campaign", "wait", "7")
    assert ended.status == 130
    assert "campaign 7 continues" in ended.err
    assert {request.method for request in server.requests} == {"GET"}


def test_wait_with_json_prints_only_the_campaign_on_stdout(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /campaigns/7", (200, campaign("finished", finished=1)))
    assert json.loads(iotide("campaign", "wait", "7", "--json").out)["state"] == "finished"


def test_retry_queues_every_failed_run(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /campaigns/7", (200, campaign("failed", finished=2, failed=2)))
    server.on(FAILED_RUNS, page({"id": 11}, {"id": 12}))
    for run_id in (11, 12):
        server.on(f"POST /runs/{run_id}/retry", (200, {"id": run_id}))
    ended = iotide("campaign", "retry", "7")
    assert (ended.status, ended.out) == (0, "campaign 7 (first): 2 of 2 failed runs queued again\n")
    assert len(server.asked("POST /runs/12/retry")) == 1


def test_a_refused_retry_does_not_stop_the_others_and_ends_with_status_2(server: FakeServer, iotide: Iotide) -> None:
    refusal = {"code": "run_not_ended", "message": "run 11 is waiting", "remedy": "retry a failed run"}
    server.on("GET /campaigns/7", (200, campaign("failed", failed=2)))
    server.on(FAILED_RUNS, page({"id": 11}, {"id": 12}))
    server.on("POST /runs/11/retry", (409, {"error": refusal}))
    server.on("POST /runs/12/retry", (200, {"id": 12}))
    ended = iotide("campaign", "retry", "7")
    assert ended.status == 2
    assert "1 of 2 failed runs queued again" in ended.out
    assert "run 11 is waiting" in ended.err


def test_retry_of_a_campaign_without_failed_runs_says_so(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /campaigns/7", (200, campaign("finished", finished=4)))
    server.on(FAILED_RUNS, page())
    assert iotide("campaign", "retry", "7").out == "campaign 7 (first) has no failed runs\n"


def reported(server: FakeServer, sides: dict[str, Any], **campaign_fields: object) -> None:
    server.on("GET /campaigns/7", (200, campaign("finished", finished=8) | campaign_fields))
    server.on("GET /campaigns/7/cells?limit=200", page(CELL))
    server.on("GET /comparison/sides?campaign=7", (200, sides))


def test_a_report_begins_with_the_answer_in_primary_metrics_and_ends_with_all_results(
    server: FakeServer, iotide: Iotide
) -> None:
    reported(server, SIDES)
    out = iotide("campaign", "report", "7").out
    assert out.index("by target, relative to disk") < out.index("configuration 0: dd on disk from n1")
    assert "    shm: 1.5 GB/s; 290 to 840 % higher; n = 4 and 4, ratio 4.80 [2.90, 8.40], p = 0.0286" in out
    assert "System time" not in out


def test_a_report_without_sides_compares_with_the_previous_campaign_of_the_schedule(
    server: FakeServer, iotide: Iotide
) -> None:
    reported(server, NO_SIDES, schedule_id=3)
    of_schedule = [campaign() | {"id": number} for number in (9, 7, 5, 4)]
    server.on("GET /campaigns?schedule_id=3&state=finished&limit=200", page(*of_schedule))
    server.on("GET /comparison?a=5&b=7", (200, {"pairs": [PAIR | {"differences": []}], "only_a": [], "only_b": []}))
    assert "B 8.0 to 15.2 % higher" in iotide("campaign", "report", "7").out


def test_a_report_of_one_configuration_says_that_nothing_is_compared(server: FakeServer, iotide: Iotide) -> None:
    reported(server, NO_SIDES)
    assert "nothing to compare: its configurations do not differ" in iotide("campaign", "report", "7").out


def test_a_report_as_json_has_campaign_sides_and_cells(server: FakeServer, iotide: Iotide) -> None:
    reported(server, SIDES)
    document = json.loads(iotide("campaign", "report", "7", "--json").out)
    assert (document["campaign"]["id"], document["sides"], document["previous"]) == (7, SIDES, None)
    assert document["cells"] == [CELL]


def test_a_report_is_written_as_the_pdf_that_the_server_printed(
    server: FakeServer, iotide: Iotide, tmp_path: Path
) -> None:
    server.on("GET /campaigns/7/report.pdf", (200, "%PDF-1.7"))
    file = tmp_path / "nightly.pdf"
    assert iotide("campaign", "report", "7", "--pdf", str(file)).out == f"wrote {file}\n"
    assert file.read_bytes() == b"%PDF-1.7"


def test_a_pdf_that_cannot_be_written_is_refused_with_its_name(
    server: FakeServer, iotide: Iotide, tmp_path: Path
) -> None:
    server.on("GET /campaigns/7/report.pdf", (200, "%PDF-1.7"))
    file = tmp_path / "missing/nightly.pdf"
    ended = iotide("campaign", "report", "7", "--pdf", str(file))
    assert ended.status == 2
    assert f"{file} cannot be written: No such file or directory" in ended.err


def test_without_chromium_on_the_server_no_pdf_is_written(server: FakeServer, iotide: Iotide, tmp_path: Path) -> None:
    refusal = {"code": "chromium_missing", "message": "no Chromium", "remedy": "print it by the browser"}
    server.on("GET /campaigns/7/report.pdf", (409, {"error": refusal}))
    ended = iotide("campaign", "report", "7", "--pdf", str(tmp_path / "nightly.pdf"))
    assert ended.status == 2
    assert "print it by the browser" in ended.err
    assert list(tmp_path.iterdir()) == []
