"""The command against a server on paper; tests/contract has it against the real one."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from factories.commands import Ended, Hurried, Iotide
from factories.fake_server import FakeServer

from iotide_agent.cli import watch
from iotide_agent.cli.api import Api, UnreachableError
from iotide_agent.cli.display import foreign_lines
from iotide_wire.foreign import ForeignLoad

from .said import CELL, NOT_WAITING, RATE, RUN, campaign, page

PLAN = "name: first\ncluster: demo\nnodes: [n1]\ntargets: [disk]\nworkloads: [{workload: dd}]\n"
BEFORE = {
    "seconds": 5.1,
    "waited_seconds": 0.0,
    "processors": 4,
    "running_tasks": 3.2,
    "load1": 2.0,
    "cpu_ratio": 0.45,
    "psi_cpu_ratio": 0.2,
    "psi_io_ratio": None,
    "disk_bytes_per_second": 5e6,
    "network_bytes_per_second": None,
    "sessions": 0,
    "jobs": ["4711"],
    "excess": "",
}


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
    assert "no name that this command understands" in ended.err


@pytest.mark.parametrize("answer", [(502, "<html>Bad Gateway</html>"), (200, "<html>hello</html>"), (200, "[1]")])
def test_answer_of_something_else_than_iotide_is_no_crash(
    answer: tuple[int, str], server: FakeServer, iotide: Iotide
) -> None:
    server.on("GET /runs/11", answer)
    ended = iotide("run", "show", "11")
    assert ended.status == 2
    assert "is this the address of iotide?" in ended.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--token", "", "campaign", "list"], "no API token was given"),
        (["--url", "localhost:1", "campaign", "list"], "url = 'localhost:1': not an address"),
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
        "warnings": [{"code": "cache", "message": "files fit into memory", "field": None}],
    }
    server.on(
        "POST /campaigns/preview",
        (200, answer),
        (200, answer | {"seconds_estimated": None, "seconds_unknown_because": "no rate yet"}),
    )
    shown = iotide("campaign", "preview", plan).out
    assert shown.splitlines() == [
        "4 runs of 1 cells",
        "time: about 1.5 h",
        "space: 1 GiB at once",
        "data: 8 GiB written and read in all",
        "warning: files fit into memory",
    ]
    assert "time: unknown: no rate yet" in iotide("campaign", "preview", plan).out


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


@pytest.mark.parametrize(
    ("metric", "words"),
    [("throughput", "1.23 GB/s write, 64 MiB"), ("total_throughput", "1.23 GB/s Total throughput, write, 64 MiB")],
)
def test_a_list_of_runs_says_which_number_each_is_known_by(
    server: FakeServer, iotide: Iotide, metric: str, words: str
) -> None:
    headline = {
        "metric": metric,
        "title": metric.replace("_", " ").capitalize(),
        "unit": "bytes_per_second",
        "labels": {"operation": "write", "file_size_bytes": 64 * 1024**2, "direct": False},
        "value": 1.23e9,
    }
    server.on("GET /runs?limit=50", page(RUN))
    server.on("GET /explorer/runs?id=11&limit=1", page({"id": 11, "headline": headline}))
    assert f"  {words}  " in iotide("run", "list").out


def test_campaign_is_shown_with_the_results_of_its_cells(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /campaigns/7", (200, campaign("finished", finished=4)))
    server.on("GET /campaigns/7/cells?limit=200", page(CELL))
    shown = iotide("campaign", "show", "7").out
    assert "cell 0: dd on disk from n1; File size 64 MiB\n" in shown
    assert "throughput (Operation write)  120 MB/s  110 MB/s  130 MB/s  4" in shown
    assert json.loads(iotide("campaign", "show", "7", "--json").out)["cells"] == [CELL]


def test_doubtful_number_is_marked_and_the_mark_explained(server: FakeServer, iotide: Iotide) -> None:
    result = RATE | {"series_id": 5, "n": 4, "median": 1.2e8, "low": 1.1e8, "high": 1.3e8}
    doubtful = CELL | {"results": [result | {"flags": ["CACHE_SIZE", "DURATION", "OUTLIER"]}]}
    server.on("GET /campaigns/7", (200, campaign("finished", finished=4)))
    server.on("GET /campaigns/7/cells?limit=200", page(doubtful))
    shown = iotide("campaign", "show", "7").out
    assert "120 MB/s *" in shown
    assert "\n* may be cached, too short\n" in shown


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


def test_paused_campaign_says_what_it_waits_for(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /campaigns/7", (200, campaign("paused", waiting=4) | {"stages": STAGES}))
    server.on("GET /campaigns/7/cells?limit=200", page(CELL | {"variant": "ext4"}))
    shown = iotide("campaign", "show", "7").out
    assert "stage 2 (xfs): paused, 0 of 4 runs ended\n" in shown
    assert "waits for you: format it; then `iotide campaign confirm 7`\n" in shown
    assert "cell 0: dd on disk from n1 in ext4;" in shown


def test_confirm_names_what_all_nodes_found_and_sends_that_alone(server: FakeServer, iotide: Iotide) -> None:
    server.on("POST /campaigns/7/pause/look", paused("n1"))
    server.on("GET /campaigns/7/pause", paused("n1"), paused())
    server.on("POST /campaigns/7/confirm", (200, campaign("active", waiting=4)))
    confirmed = iotide("campaign", "confirm", "7", "--yes")
    assert "target disk on n1 was ext4 from /dev/vdb, is now xfs from /dev/vdb (rw)\n" in confirmed.out
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


def test_run_is_shown_with_command_samples_and_flags(server: FakeServer, iotide: Iotide) -> None:
    step = {"name": "write", "phase": "p", "argv": ["dd", "of=/x [y]"], "target_id": 1, "writer": None}
    step |= {"started_at": "2026-11-21T10:00:00Z", "wall_seconds": 1.0, "user_seconds": 0.1, "system_seconds": 0.1}
    step |= {"max_rss_bytes": 1, "exit_status": 0, "signal": None}
    order = {"id": 3, "node_name": "n1", "role": "load", "state": "ended", "outcome": "finished", "steps": [step]}
    order |= {"foreign_load": {"before": BEFORE, "during": None}}
    observer = {"id": 4, "node_name": "s1", "role": "observe", "state": "running", "outcome": None, "steps": []}
    sender = order | {"id": 5, "node_name": "n2", "step_role": "sender", "steps": []}
    attempt = {"ordinal": 1, "state": "finished", "reason": None, "orders": [order, observer, sender]}
    unjudged = {"check": "steadiness", "title": "steadiness", "because": "1 s, 25 needed", "phase": "write"}
    detail = RUN | NOT_WAITING | {"attempts": [attempt], "samples": [RATE | {"value": 1.2e8}]}
    server.on("GET /runs/11", (200, detail | {"not_judged": [unjudged]}))
    shown = iotide("run", "show", "11").out
    assert "  $ dd of=/x [y]" in shown
    assert "  others before: processors 45 %, disks 5 MB/s, batch jobs 4711" in shown
    assert "  others during: not measured" in shown
    assert "not judged: steadiness (write: 1 s, 25 needed)" in shown
    assert "attempt 1 observed by s1: running" in shown
    assert "attempt 1 on n2, the sender: finished" in shown
    assert "120 MB/s" in shown
    assert "not flushed (rejected): page cache; limit fsync" in shown


def test_a_sample_that_was_too_short_is_not_shown_as_that_of_a_quiet_node() -> None:
    short = ForeignLoad.model_validate({"before": BEFORE | {"seconds": 1.08}, "during": None})
    lines = ["others before: not measured, 1.08 s of 5 s", "others during: not measured"]
    assert foreign_lines(short) == lines
    assert foreign_lines(ForeignLoad(before=None, during=None))[0] == "others before: not measured, 0 s of 5 s"
    assert foreign_lines(None) == []


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({"expected_start_at": "2026-11-21T10:20:00Z"}, "expected to start 2026-11-21 10:20 UTC"),
        ({"expected_start_unknown_because": "node n1: is silent"}, "its start cannot be foreseen: node n1: is silent"),
    ],
)
def test_a_waiting_run_is_shown_with_its_reason_and_expected_start(
    server: FakeServer, iotide: Iotide, expected: dict[str, str], words: str
) -> None:
    waiting = NOT_WAITING | {"waiting_because": "node n1 is taken by run 7", **expected}
    server.on("GET /runs/11", (200, RUN | waiting | {"attempts": [], "samples": []}))
    shown = iotide("run", "show", "11").out.splitlines()
    assert "waiting because node n1 is taken by run 7" in shown
    assert words in shown


def test_log_is_in_time_order_with_raw_output_on_request(server: FakeServer, iotide: Iotide) -> None:
    late = {"id": 2, "at": "2026-11-21T10:00:05Z", "kind": "ended", "text": "all good"}
    early = {"id": 1, "at": "2026-11-21T10:00:01Z", "kind": "claimed", "text": "by n1"}
    server.on("GET /runs/11/events?limit=200", page(late, early))
    server.on(
        "GET /runs/11/artefacts?limit=200", page({"id": 5, "order_id": 3, "name": "0-write.stderr", "size_bytes": 3})
    )
    server.on("GET /artefacts/5", (200, "abc"))
    assert iotide("run", "log", "11").out.splitlines() == [
        "2026-11-21 10:00:01 UTC  claimed  by n1",
        "2026-11-21 10:00:05 UTC  ended  all good",
    ]
    assert iotide("run", "log", "11", "--raw").out.endswith("== 0-write.stderr, 3 bytes\nabc\n")
    assert json.loads(iotide("run", "log", "11", "--raw", "--json").out)["artefacts"][0]["text"] == "abc"


def test_run_is_exported_in_base_units(server: FakeServer, iotide: Iotide, tmp_path: Path) -> None:
    sample = RATE | {"id": 1, "value": 0.1 + 0.2}
    server.on("GET /samples?run_id=11&limit=200", page(sample))
    rows = list(csv.DictReader(io.StringIO(iotide("run", "export", "11").out)))
    assert rows == [
        {
            "metric": "throughput",
            "value": "0.30000000000000004",
            "unit": "bytes_per_second",
            "labels": '{"operation": "write"}',
        }
    ]
    assert json.loads(iotide("run", "export", "11", "--format", "json").out) == [sample]
    iotide("run", "export", "11", "--output", str(tmp_path / "run.csv"))
    assert (tmp_path / "run.csv").read_text().startswith("metric,labels,value,unit\n")


def test_interrupted_watcher_says_that_the_campaign_goes_on(
    server: FakeServer, iotide: Iotide, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt(seconds)

    server.on("GET /campaigns/7", (200, campaign("active", active=1)))
    monkeypatch.setattr(Hurried, "sleep", staticmethod(interrupted))
    ended = iotide("campaign", "show", "7", "--watch")
    assert ended.status == 130
    assert "campaign 7 goes on" in ended.err
