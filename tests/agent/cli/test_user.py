"""`iotide` against a fake server; tests/contract uses a real one."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from factories.commands import Ended, Hurried, Iotide
from factories.fake_server import FakeServer

from iotide_agent.cli import watch
from iotide_agent.cli.api import Api, UnreachableError

from .responses import CELL, RATE, RUN, campaign, page

PLAN = "name: first\ncluster: demo\nnodes: [n1]\ntargets: [disk]\nworkloads: [{workload: dd}]\n"


@pytest.fixture
def plan(tmp_path: Path) -> str:
    (tmp_path / "plan.yaml").write_text(PLAN)
    return str(tmp_path / "plan.yaml")


def error(code: str, **fields: object) -> dict[str, object]:
    return {"error": {"code": code, "field": None, "value": None, "message": code, "remedy": None} | fields}


def test_submit_sends_the_plan_with_token_and_idempotency_key(server: FakeServer, iotide: Iotide, plan: str) -> None:
    server.on("POST /campaigns", (201, campaign(waiting=4)))
    ended = iotide("campaign", "submit", plan)
    assert ended == Ended(0, "campaign 7 (first) accepted: 4 runs\n", "")
    [request] = server.requests
    assert request.headers["Authorization"] == "Bearer iot_test"
    assert len(request.headers["Idempotency-Key"]) >= 32
    [choice] = request.body["workloads"]
    assert {name: value for name, value in choice.items() if value} == {"workload": "dd"}


def test_a_campaign_is_submitted_several_times_one_after_another(server: FakeServer, iotide: Iotide, plan: str) -> None:
    server.on("POST /campaigns", (201, campaign(waiting=4)))
    server.on(
        "GET /campaigns/7", (200, campaign("active", active=1, waiting=3)), (200, campaign("finished", finished=4))
    )
    ended = iotide("campaign", "submit", plan, "--times", "2")
    assert ended.status == 0, ended.err
    assert ended.out.count("campaign 7 (first): 4 runs finished") == 2
    assert "campaign 7 (first) accepted: 4 runs, 2 of 2" in ended.out
    keys = {request.headers["Idempotency-Key"] for request in server.asked("POST /campaigns")}
    assert len(keys) == 2


def test_a_failed_run_ends_a_repeated_submission(server: FakeServer, iotide: Iotide, plan: str) -> None:
    server.on("POST /campaigns", (201, campaign(waiting=4)))
    server.on("GET /campaigns/7", (200, campaign("failed", finished=3, failed=1)))
    assert iotide("campaign", "submit", plan, "--times", "3").status == 1
    assert len(server.asked("POST /campaigns")) == 1


def test_lost_answer_is_asked_for_again_with_the_same_key(server: FakeServer, iotide: Iotide, plan: str) -> None:
    server.on("POST /campaigns", (None, None), (200, campaign(waiting=4)))
    assert iotide("campaign", "submit", plan).status == 0
    first, second = server.asked("POST /campaigns")
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]


@pytest.mark.parametrize(
    ("counts", "status"),
    [({"finished": 4}, 0), ({"finished": 3, "failed": 1}, 1), ({"finished": 3, "cancelled": 1}, 1)],
)
def test_watched_campaign_ends_with_the_status_of_its_runs(
    counts: dict[str, int], status: int, server: FakeServer, iotide: Iotide, plan: str
) -> None:
    server.on("POST /campaigns", (201, campaign(waiting=4)))
    server.on(
        "GET /campaigns/7",
        (200, campaign("active", active=1, waiting=3)),
        (None, None),
        (200, campaign(list(counts)[-1], **counts)),
    )
    server.on("GET /campaigns/7/cells?limit=200", page(CELL))
    ended = iotide("campaign", "submit", plan, "--watch")
    assert ended.status == status
    assert "first: 3 waiting, 1 active" in ended.out
    assert f"{counts['finished']} runs finished, {counts.get('failed', 0)} failed" in ended.out
    assert "120 MB/s" in ended.out
    assert "File size 64 MiB" in ended.out


def test_watch_with_json_prints_one_document_on_stdout(server: FakeServer, iotide: Iotide, plan: str) -> None:
    server.on("POST /campaigns", (201, campaign(waiting=1)))
    server.on("GET /campaigns/7", (200, campaign("finished", finished=1)))
    ended = iotide("campaign", "submit", plan, "--watch", "--json")
    assert json.loads(ended.out)["state"] == "finished"


def test_watcher_gives_up_on_a_server_that_stays_away(server: FakeServer) -> None:
    slept: list[float] = []
    server.on("GET /campaigns/7", (None, None))
    with Api(server.url, "iot_test", None) as api, pytest.raises(UnreachableError):
        watch.watch(api, 7, lambda _: None, slept.append)
    assert sum(slept) == watch.PATIENCE_SECONDS


def test_refusal_of_the_server_is_shown_as_field_value_and_remedy(
    server: FakeServer, iotide: Iotide, plan: str
) -> None:
    refusal = error("target_not_found", field="targets[0]", value="disk", message="no such target", remedy="use shm")
    server.on("POST /campaigns", (422, refusal))
    assert iotide("campaign", "submit", plan) == Ended(
        2, "", "error: targets[0] = 'disk': no such target\n  remedy: use shm\n"
    )
    as_json = json.loads(iotide("campaign", "submit", plan, "--json").err)
    assert as_json["error"] == refusal["error"]


def test_answer_of_another_version_is_no_crash(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /campaigns/7", (200, {"id": 7, "title": "first"}))
    server.on("GET /campaigns/7/cells?limit=200", page())
    ended = iotide("campaign", "show", "7")
    assert ended.status == 2
    assert 'the field "name" of the server\'s answer is missing' in ended.err


@pytest.mark.parametrize("answer", [(502, "<html>Bad Gateway</html>"), (200, "<html>hello</html>"), (200, "[1]")])
def test_answer_of_something_else_than_iotide_is_no_crash(
    answer: tuple[int, str], server: FakeServer, iotide: Iotide
) -> None:
    server.on("GET /runs/11", answer)
    ended = iotide("run", "show", "11")
    assert ended.status == 2
    assert "check that this is the address of iotide" in ended.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--token", "", "campaign", "list"], "error: token: no API token"),
        (["--url", "localhost:1", "campaign", "list"], "url = 'localhost:1': not a URL"),
        (["--url", "http://127.0.0.1:1", "campaign", "list"], "Connection refused"),
        (["--ca", "/nowhere.pem", "campaign", "list"], "ca = '/nowhere.pem': no such file"),
        (["campaign", "show", "0"], "equal to 1"),
        (["campaign", "submit"], "FILE.yaml"),
        (["campaign", "dance"], "dance"),
        (["campaign", "show", "99"], "nothing at /api/v1/campaigns/99"),
    ],
)
def test_bad_call_ends_with_2(arguments: list[str], expected: str, server: FakeServer, iotide: Iotide) -> None:
    del server
    ended = iotide(*arguments)
    assert ended.status == 2
    assert expected in ended.err
    assert ended.out == ""


def test_bad_plan_is_refused_before_the_server_is_asked(server: FakeServer, iotide: Iotide, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(PLAN + "repeats: 0\n")
    ended = iotide("campaign", "submit", str(file))
    assert ended.status == 2
    assert f"{file}:6:1: repeats = 0" in ended.err
    assert server.requests == []


def test_preview_says_runs_time_space_and_warnings(server: FakeServer, iotide: Iotide, plan: str) -> None:
    answer = {
        "cell_count": 1,
        "run_count": 4,
        "seconds_estimated": 5400.0,
        "bytes_peak": 2**30,
        "seconds_unknown_because": None,
        "bytes_moved": 2**33,
        "power": {
            "repeats": 4,
            "numbers": 12,
            "workloads": [
                {
                    "workload": "dd",
                    "scatter_source": "configurations",
                    "scatter_runs": 24,
                    "rows": [{"scatter_ratio": 0.06, "difference_ratio": 0.158, "repeats_needed": 5}],
                },
                {
                    "workload": "fio",
                    "scatter_source": None,
                    "scatter_runs": 0,
                    "rows": [{"scatter_ratio": 0.03, "difference_ratio": 0.083, "repeats_needed": 4}],
                },
            ],
        },
        "warnings": [{"code": "cache", "message": "files fit into memory", "field": None}],
    }
    server.on(
        "POST /campaigns/preview",
        (200, answer),
        (200, answer | {"seconds_estimated": None, "seconds_unknown_because": "no rate yet"}),
    )
    shown = iotide("campaign", "preview", plan).out
    assert shown.splitlines() == [
        "runs: 4, configurations: 1",
        "time: about 1.5 h",
        "space: 1 GiB at most at a time",
        "data: 8 GiB written and read in total",
        (
            "dd: 4 repeats at its scatter of 6 % (24 runs) show differences from 15.8 % on;"
            " with 12 numbers compared, 5 repeats are needed"
        ),
        "fio: its scatter is unknown, as no runs were repeated",
        "fio: 4 repeats at a scatter of 3 % show differences from 8.3 % on; also with 12 numbers compared",
        "warning: files fit into memory",
    ]
    assert "time: unknown: no rate yet" in iotide("campaign", "preview", plan).out


def test_preview_says_what_runs_as_one_program(server: FakeServer, iotide: Iotide, plan: str) -> None:
    programs = [None, *["one program over 2 nodes x 4 tasks"] * 2, "one program over 3 nodes x 4 tasks"]
    answer = {
        "cells": [{"workload": "ior", "program": program} for program in programs] + [{"workload": "dd"}],
        "cell_count": 5,
        "run_count": 5,
        "seconds_estimated": 1.0,
        "seconds_unknown_because": None,
        "bytes_peak": 1,
        "bytes_moved": 1,
        "warnings": [],
    }
    server.on("POST /campaigns/preview", (200, answer))
    assert iotide("campaign", "preview", plan).out.splitlines()[1:3] == [
        "ior: one program over 2 nodes x 4 tasks",
        "ior: one program over 3 nodes x 4 tasks",
    ]


@pytest.mark.parametrize(
    ("seconds", "known", "words"),
    [
        (5400.0, 5400.0, "in about 1.5 h"),
        (None, 0.0, "in unknown time"),
        (None, 600.0, "in about 10 min and unknown time for others"),
    ],
)
def test_preview_lists_the_file_systems_that_a_node_makes(
    server: FakeServer, iotide: Iotide, plan: str, seconds: float | None, known: float, words: str
) -> None:
    order = [(1, "single"), (1, "raid5 4x64K"), (2, "raid5 4x64K"), (2, "single")]
    stages = [{"round": number, "variant": f"{layout} / ext4 / default / noatime"} for number, layout in order]
    made: dict[str, Any] = {"node_name": "n1", "set_name": "bays", "stages": stages, "make_seconds_estimated": seconds}
    made["make_seconds_known"] = known
    answer: dict[str, Any] = {
        "cell_count": 4,
        "run_count": 8,
        "seconds_estimated": None,
        "seconds_unknown_because": "no rate yet",
    }
    answer |= {"bytes_peak": 1, "bytes_moved": 1, "warnings": [], "scratch": made}
    server.on("POST /campaigns/preview", (200, answer))
    assert iotide("campaign", "preview", plan).out.splitlines()[-3:] == [
        f"makes: 4 in 2 rounds on n1/bays, {words}",
        "stage: single / ext4 / default / noatime",
        "stage: raid5 4x64K / ext4 / default / noatime",
    ]


def test_lists_go_on_to_the_next_page_up_to_the_limit(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /campaigns?state=active&limit=3", page(campaign(), campaign(), cursor="next"))
    server.on("GET /campaigns?state=active&limit=3&cursor=next", page(campaign(), campaign()))
    ended = iotide("campaign", "list", "--state", "active", "--limit", "3", "--json")
    assert len(json.loads(ended.out)) == 3


def test_tables_keep_a_row_on_one_line_in_a_pipe(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /runs?campaign_id=7&limit=50", page(RUN))
    server.on("GET /explorer/runs?id=11&limit=1", page({"id": 11, "headline": None}))
    heading, row = iotide("run", "list", "--campaign", "7").out.splitlines()
    assert heading.startswith("id  campaign  repeat  node  target  workload  state               value  progress")
    assert row.rstrip().startswith(
        "11  first     1       n1    disk    dd        finished, rejected         100 %     not flushed"
    )


def test_campaign_is_shown_with_the_results_of_its_cells(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /campaigns/7", (200, campaign("finished", finished=4)))
    server.on("GET /campaigns/7/cells?limit=200", page(CELL))
    shown = iotide("campaign", "show", "7").out
    assert "configuration 0: dd on disk from n1; File size 64 MiB\n" in shown
    assert "throughput (Operation write)  120 MB/s  110 MB/s  130 MB/s  4" in shown
    assert json.loads(iotide("campaign", "show", "7", "--json").out)["cells"] == [CELL]


def test_doubtful_number_is_marked_and_the_mark_explained(server: FakeServer, iotide: Iotide) -> None:
    result = RATE | {"series_id": 5, "n": 4, "median": 1.2e8, "low": 1.1e8, "high": 1.3e8}
    doubtful = CELL | {"results": [result | {"flags": ["CACHE_SIZE", "DURATION", "OUTLIER"]}]}
    server.on("GET /campaigns/7", (200, campaign("finished", finished=4)))
    server.on("GET /campaigns/7/cells?limit=200", page(doubtful))
    shown = iotide("campaign", "show", "7").out
    assert "120 MB/s *" in shown
    assert "\n* may be cached\n" in shown
    assert "\ntoo short: 1 of 1 configurations\n" in shown


def test_cancel_shows_the_campaign(server: FakeServer, iotide: Iotide) -> None:
    server.on("POST /campaigns/7/cancel", (200, campaign("cancelled", cancelled=4)))
    assert "cancelled" in iotide("campaign", "cancel", "7").out


STAGES = [
    {"ordinal": 1, "variant": "ext4", "pause": None, "state": "open", "runs": 4, "ended": 4},
    {"ordinal": 2, "variant": "xfs", "pause": "format it", "state": "paused", "runs": 4, "ended": 0},
]


def paused(*waiting_for: str) -> tuple[int, dict[str, Any]]:
    ext4 = {"fstype": "ext4", "source": "/dev/vdb", "mount_options": "rw"}
    mount = {"target": "disk", "node": "n1", "was": ext4, "is_change": True, "is_backing": False, "problem": None}
    found = mount | {"now": ext4 | {"fstype": "xfs"}}
    pause = {"ordinal": 2, "variant": "xfs", "pause": "format it", "found_sha256": "0" * 64, "mounts": [found]}
    return 200, pause | {"waiting_for": list(waiting_for)}


def test_paused_campaign_shows_the_reason_of_its_pause(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /campaigns/7", (200, campaign("paused", waiting=4) | {"stages": STAGES}))
    server.on("GET /campaigns/7/cells?limit=200", page(CELL | {"variant": "ext4"}))
    shown = iotide("campaign", "show", "7").out
    assert "stage 2 (xfs): paused, 0 of 4 runs ended\n" in shown
    assert "paused until you confirm: format it; then run `iotide campaign confirm 7`\n" in shown
    assert "configuration 0: dd on disk from n1 in ext4;" in shown


def test_confirm_shows_the_finding_of_all_nodes_and_sends_only_that(server: FakeServer, iotide: Iotide) -> None:
    server.on("POST /campaigns/7/pause/look", paused("n1"))
    server.on("GET /campaigns/7/pause", paused("n1"), paused())
    server.on("POST /campaigns/7/confirm", (200, campaign("active", waiting=4)))
    confirmed = iotide("campaign", "confirm", "7", "--yes")
    assert "target disk on n1 changed: ext4 from /dev/vdb -> xfs from /dev/vdb (rw)\n" in confirmed.out
    assert server.requests[-1].body == {"found_sha256": "0" * 64}


def test_confirm_that_is_not_meant_changes_nothing(
    server: FakeServer, iotide: Iotide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    server.on("POST /campaigns/7/pause/look", paused())
    assert iotide("campaign", "confirm", "7").status == 2
    assert [request.path for request in server.requests] == ["/api/v1/campaigns/7/pause/look"]


def test_campaign_is_exported_as_the_server_wrote_it(server: FakeServer, iotide: Iotide, tmp_path: Path) -> None:
    server.on("GET /campaigns/7/samples.csv", (200, "a,b\r\n1,2\r\n"))
    assert iotide("campaign", "export", "7").out == "a,b\r\n1,2\r\n"
    assert iotide("campaign", "export", "7", "-o", str(tmp_path / "x.csv")).out == ""
    assert (tmp_path / "x.csv").read_bytes() == b"a,b\r\n1,2\r\n"


def test_interrupted_watcher_reports_that_the_campaign_continues(
    server: FakeServer, iotide: Iotide, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt(seconds)

    server.on("GET /campaigns/7", (200, campaign("active", active=1)))
    monkeypatch.setattr(Hurried, "sleep", staticmethod(interrupted))
    ended = iotide("campaign", "show", "7", "--watch")
    assert ended.status == 130
    assert "campaign 7 continues" in ended.err


def test_campaigns_are_listed_with_their_main_result_and_the_ratio_to_the_previous_one(
    server: FakeServer, iotide: Iotide
) -> None:
    headline = RATE | {
        "campaign_id": 7,
        "title": "Throughput",
        "n": 4,
        "median": 1.2e8,
        "low": 1.1e8,
        "high": 1.3e8,
        "previous": {"campaign_id": 5, "median": 1e8, "n": 3, "ratio": 1.2},
    }
    found = page(campaign("finished", finished=3, cancelled=1), campaign("active", active=1) | {"id": 8})
    server.on("GET /campaigns?text=fir&schedule_id=3&sort=name&limit=20", found)
    server.on("GET /campaign-headlines?campaign_id=7", (200, {"items": [headline]}))
    ended = iotide("campaign", "list", "--name", "fir", "--schedule", "3", "--sort", "name")
    heading, first, second = (
        [word.strip() for word in line.split("  ") if word.strip()] for line in ended.out.splitlines()
    )
    assert heading == ["id", "name", "state", "runs", "main result", "previous", "cluster", "owner", "submitted"]
    assert first[:6] == [
        *("7", "first", "finished", "4, 1 cancelled"),
        *("120 MB/s write (n = 4, 110 MB/s to 130 MB/s)", "ratio 1.20 to 5 (n = 3)"),
    ]
    assert second[:4] == ["8", "first", "active", "0 of 1, 50 %"]


def test_shell_completion_can_be_installed(iotide: Iotide) -> None:
    assert "--install-completion" in iotide("--help").out
