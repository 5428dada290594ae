"""Schedule from a file to a load on a real agent, which waits for the end of a maintenance window."""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from bring_up import wait_for
from local_stack import BIN
from rig import Rig

SMALL = {"file_size_bytes": "1 MiB", "block_size_bytes": "64 KiB"}


def iotide(rig: Rig, *arguments: str | Path) -> Any:  # noqa: ANN401 - whatever JSON the command prints
    environment = {**os.environ, "IOTIDE_URL": rig.stack.url, "IOTIDE_TOKEN": rig.stack.token}
    command = [str(BIN / "iotide"), *map(str, arguments), "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def waiting_for(rig: Rig, run_id: int, words: str) -> None:
    wait_for(f"a run that waits for {words}", lambda: words in (rig.run(run_id)["waiting_because"] or "") or None)


def test_a_schedule_of_a_file_loads_a_node_once_its_maintenance_is_over(rig: Rig, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    day = {"starts_at": (now - timedelta(hours=1)).isoformat(), "ends_at": (now + timedelta(hours=1)).isoformat()}
    window = rig.stack.post(f"/clusters/{rig.cluster_id}/blackouts", {**day, "reason": "new firmware"})
    file = tmp_path / "schedule.yaml"
    given = {"name": "by-hand", "monthly": "last friday at 22:00", "time_zone": "America/New_York"}
    file.write_text(yaml.safe_dump({**given, "plan": rig.plan("dd", SMALL)}))
    schedule = iotide(rig, "schedule", "submit", file)
    campaign_id = iotide(rig, "schedule", "run", str(schedule["id"]))["campaign_id"]
    (run,) = rig.runs(campaign_id)
    waiting_for(rig, run["id"], "The cluster is in maintenance until")
    assert rig.stack.api.delete(f"/blackouts/{window['id']}").is_success
    assert rig.wait_ended(run["id"])["state"] == "finished"
    assert rig.stack.get(f"/campaigns/{campaign_id}")["schedule_name"] == "by-hand"
    assert [firing["campaign_id"] for firing in iotide(rig, "schedule", "show", str(schedule["id"]))["firings"]] == [
        campaign_id
    ]


def test_a_plan_with_a_window_loads_a_node_in_it_and_not_outside(rig: Rig) -> None:
    now = datetime.now(UTC)
    open_now, open_later = (
        {
            "from": f"{now + timedelta(hours=begin):%H:%M}",
            "until": f"{now + timedelta(hours=begin + 4):%H:%M}",
            "time_zone": "UTC",
        }
        for begin in (-1, 6)
    )
    later = rig.submit_one("dd", SMALL, window=open_later)
    assert rig.wait_ended(rig.submit_one("dd", SMALL, window=open_now))["state"] == "finished"
    waiting_for(rig, later, f"The campaign's window ({open_later['from']} to {open_later['until']} UTC) opens at")
    rig.stack.post(f"/campaigns/{rig.run(later)['campaign_id']}/cancel", {})
    assert rig.wait_ended(later)["state"] == "cancelled"
