import json
from pathlib import Path
from textwrap import indent

from factories.commands import Ended, Iotide
from factories.fake_server import FakeServer

PLAN = "name: first\ncluster: demo\nnodes: [n1]\ntargets: [disk]\nworkloads: [{workload: dd}]\n"
FIRED = {"fired_at": "2026-11-21T01:30:00Z", "outcome": "submitted", "campaign_id": 7, "problem": None, "missed": 0}
MISSED = FIRED | {"outcome": "failed", "campaign_id": None, "problem": "there is no node n1", "missed": 2}
SCHEDULE = {
    "id": 5,
    "name": "nightly",
    "cluster_name": "demo",
    "owner": "ada",
    "state": "active",
    "words": "At 02:30 every day",
    "time_zone": "Europe/Zurich",
    "next_firings": [{"planned_at": "2026-11-22T01:30:00Z", "fires_at": "2026-11-22T01:42:00Z"}],
    "last_firing": FIRED,
}


def listed(*items: object) -> dict[str, object]:
    return {"items": list(items), "next_cursor": None}


def test_a_schedule_is_submitted_with_its_plan_and_says_when_it_fires(
    server: FakeServer, iotide: Iotide, tmp_path: Path
) -> None:
    file = tmp_path / "schedule.yaml"
    file.write_text(f"name: nightly\ncron: 30 2 * * *\ntime_zone: Europe/Zurich\nplan:\n{indent(PLAN, '  ')}")
    server.on("POST /schedules", (201, SCHEDULE))
    ended = iotide("schedule", "submit", str(file))
    assert ended == Ended(0, "schedule 5 (nightly) created\nnext campaign 2026-11-22 01:42 UTC\n", "")
    [request] = server.requests
    assert (request.body["cron"], request.body["plan"]["nodes"]) == ("30 2 * * *", ["n1"])


def test_schedules_are_listed_shown_paused_resumed_and_run(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /schedules?limit=50", (200, listed(SCHEDULE)))
    server.on("GET /schedules/5", (200, SCHEDULE))
    server.on("GET /schedules/5/firings?limit=20", (200, listed(MISSED, FIRED)))
    for step in ("pause", "resume"):
        server.on(f"POST /schedules/5/{step}", (200, SCHEDULE | {"state": f"{step}d", "next_firings": []}))
    server.on("POST /schedules/5/run", (201, FIRED))
    assert "At 02:30 every day Europe/Zurich" in iotide("schedule", "list").out
    shown = iotide("schedule", "show", "5").out
    assert "2026-11-21 01:30 UTC failed, 2 missed: there is no node n1\n2026-11-21 01:30 UTC campaign 7\n" in shown
    assert "paused" in iotide("schedule", "pause", "5").out
    assert "resumed" in iotide("schedule", "resume", "5").out
    assert iotide("schedule", "run", "5").out == "campaign 7 accepted\n"
    assert json.loads(iotide("schedule", "list", "--json").out) == [SCHEDULE]


def test_a_schedule_is_removed_only_when_it_is_meant(server: FakeServer, iotide: Iotide) -> None:
    server.on("GET /schedules/5", (200, SCHEDULE))
    server.on("DELETE /schedules/5", (204, None))
    refused = iotide("schedule", "remove", "5")
    assert (refused.status, "use --yes" in refused.err) == (2, True)
    assert server.asked("DELETE /schedules/5") == []
    assert iotide("schedule", "remove", "5", "--yes").out == "schedule 5 (nightly) removed\n"
    assert len(server.asked("DELETE /schedules/5")) == 1
