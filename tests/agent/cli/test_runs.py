"""`iotide run` against a fake server."""

import csv
import io
import json
import tarfile
from pathlib import Path

import pytest
from factories.commands import Iotide
from factories.fake_server import FakeServer

from iotide_agent.cli.answers import Artefact, RunDetail
from iotide_agent.cli.raw_output import paths_of
from iotide_agent.cli.run_display import foreign_lines
from iotide_wire.foreign import ForeignLoad

from .responses import NOT_WAITING, RATE, RUN, page

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
    assert "  load before the run: CPU 45 %, disks 5 MB/s, batch jobs 4711" in shown
    assert "  other load during the run: not measured" in shown
    assert "not judged: steadiness (write: 1 s, 25 needed)" in shown
    assert "attempt 1 observed by s1: running" in shown
    assert "attempt 1 on n2, the sender: finished" in shown
    assert "120 MB/s" in shown
    assert "not flushed (rejected): page cache; limit fsync" in shown


def test_a_sample_that_was_too_short_is_not_shown_as_that_of_a_quiet_node() -> None:
    short = ForeignLoad.model_validate({"before": BEFORE | {"seconds": 1.08}, "during": None})
    lines = [
        "load before the run: not measured (1.08 s sampled, 5 s needed)",
        "other load during the run: not measured",
    ]
    assert foreign_lines(short) == lines
    assert foreign_lines(ForeignLoad(before=None, during=None))[0] == (
        "load before the run: not measured (0 s sampled, 5 s needed)"
    )
    assert foreign_lines(None) == []


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({"expected_start_at": "2026-11-21T10:20:00Z"}, "expected start: 2026-11-21 10:20 UTC"),
        ({"expected_start_unknown_because": "node n1: is silent"}, "start time unknown: node n1: is silent"),
    ],
)
def test_a_waiting_run_is_shown_with_its_reason_and_expected_start(
    server: FakeServer, iotide: Iotide, expected: dict[str, str], words: str
) -> None:
    waiting = NOT_WAITING | {"waiting_because": "Waiting for node n1 (run 7, exclusive)", **expected}
    server.on("GET /runs/11", (200, RUN | waiting | {"attempts": [], "samples": []}))
    shown = iotide("run", "show", "11").out.splitlines()
    assert "Waiting for node n1 (run 7, exclusive)" in shown
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


ORDER = {
    "id": 3,
    "node_name": "n1",
    "role": "load",
    "state": "ended",
    "outcome": "finished",
    "steps": [],
    "foreign_load": None,
}


def artefact(number: int, order: int, name: str) -> dict[str, object]:
    return {"id": number, "order_id": order, "name": name, "size_bytes": 3}


def test_output_is_an_archive_with_the_tool_s_own_names(server: FakeServer, iotide: Iotide, tmp_path: Path) -> None:
    attempt = {"ordinal": 1, "state": "finished", "reason": None, "orders": [ORDER]}
    server.on("GET /runs/11", (200, RUN | NOT_WAITING | {"attempts": [attempt], "samples": []}))
    names = ["000-result.txt", "000-io500.stdout", "runner.json"]
    server.on("GET /runs/11/artefacts?limit=200", page(*(artefact(at, 3, name) for at, name in enumerate(names))))
    for at in range(3):
        server.on(f"GET /artefacts/{at}", (200, "abc"))
    file = tmp_path / "run.tar.gz"
    assert iotide("run", "output", "11", "-o", str(file)).out == f"{file} has 3 files\n"
    with tarfile.open(file) as archive:
        assert archive.getnames() == ["run-11/result.txt", "run-11/io500.stdout", "run-11/runner.json"]
        extracted = archive.extractfile("run-11/result.txt")
        assert extracted is not None
        assert extracted.read() == b"abc"


def test_files_of_several_steps_and_nodes_stay_apart() -> None:
    orders = [ORDER, ORDER | {"id": 4, "node_name": "n2"}]
    attempt = {"ordinal": 2, "state": "finished", "reason": None, "orders": orders}
    run = RunDetail.of(RUN | NOT_WAITING | {"attempts": [attempt], "samples": []})
    found = [artefact(1, 3, "000-out"), artefact(2, 3, "001-out"), artefact(3, 4, "000-out"), artefact(4, 9, "../x")]
    assert [str(path) for path in paths_of(run, [Artefact.of(one) for one in found])] == [
        "run-11/attempt-2/n1/000-out",
        "run-11/attempt-2/n1/001-out",
        "run-11/attempt-2/n2/out",
        "run-11/order-9/x",
    ]


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
