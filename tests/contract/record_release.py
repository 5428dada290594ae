"""Recorder of a release: its agent as wheels, and a dump of a database with some data of every kind.

Run at the release's own commit, before the version is raised:
    for part in agent/wire agent/node; do uv build --wheel "$part" --out-dir tests/data/releases/VERSION; done
    PYTHONPATH=deploy/demo:tests uv run python tests/contract/record_release.py VERSION
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from bring_up import wait_for
from local_stack import BIN, LocalStack
from psycopg.conninfo import conninfo_to_dict
from rig import FIO_SMALL, Rig, add_rig, running_stack

from iotide_server.bundled.postgres import find_postgres
from iotide_server.bundled.privileges import choose_account
from iotide_server.bundled.state import StateDirectory

RELEASES: Final = Path(__file__).parents[1] / "data/releases"
SMALL: Final = {"file_size_bytes": 1024**2, "block_size_bytes": 64 * 1024}
ENDLESS: Final = {**FIO_SMALL, "rw": "write", "runtime_seconds": 600}
_DAY: Final = {"cron": "30 2 * * *", "time_zone": "Europe/Stockholm"}


def fill(stack: LocalStack, rig: Rig) -> None:
    """Make the server store some data of every kind."""
    stack.post("/users", {"name": "vera", "roles": [{"cluster_id": rig.cluster_id, "role": "viewer"}]})
    receiver = {"kind": "webhook", "url": "https://hooks.example.org/iotide", "secret": "whsec_" + "c2VjcmV0" * 4}
    channel = stack.post("/channels", {"name": "ops", "cluster_id": rig.cluster_id, "receiver": receiver})
    rule = {"name": "slower", "cluster": rig.cluster, "metric": "write_throughput", "channel_ids": [channel["id"]]}
    stack.post("/alert-rules", rule)
    stack.post("/schedules", {"name": "nightly", **_DAY, "plan": rig.plan("dd", SMALL)})
    stack.post("/trend-events", {"cluster": rig.cluster, "text": "kernel 6.1.0-30 -> 6.1.0-35"})
    history = [BIN / "iotide-server", "load-demo-history", "--seed", "7", "--days", "90", "--cluster", "demo-archive"]
    subprocess.run([*map(str, history), "--state", str(stack.directory / "server")], check=True)
    finished = rig.submit("dd", SMALL, repeats=3)
    stack.wait_campaign(finished)
    rig.wait_ended(rig.submit_one("fio", ENDLESS, time_limit_seconds=2.0))
    cancelled = rig.submit_one("fio", ENDLESS)
    rig.wait_running(cancelled)
    stack.post(f"/runs/{cancelled}/cancel", {})
    rig.wait_ended(cancelled)
    rig.wait_running(rig.submit_one("fio", ENDLESS))
    rig.submit("dd", SMALL)

    def is_drawn() -> bool | None:
        samples: list[dict[str, Any]] = stack.get("/samples", run_id=rig.runs(finished)[0]["id"])["items"]
        drawn = [stack.get(f"/series/{sample['series_id']}/points")["at"] for sample in samples]
        return all(drawn) or None

    wait_for("the points of what finished", is_drawn)


def dump(stack: LocalStack, file: Path) -> None:
    """Dump the whole database in pg_dump's custom format."""
    state = StateDirectory(stack.directory / "server", choose_account(stack.directory / "server"))
    programs = next(find_postgres(state))
    given = conninfo_to_dict(stack.settings["IOTIDE_DATABASE_URL"])
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD", "dbname": "PGDATABASE"}
    environment = {names[key]: str(value) for key, value in given.items()}
    command = [programs.directory / "pg_dump", "--format=custom", "--compress=9", "--no-owner", "--no-privileges"]
    subprocess.run([*map(str, command), "--file", str(file)], check=True, env={**os.environ, **environment})


def main(version: str) -> None:
    """Start a server of this release, fill it, and keep its database."""
    with running_stack() as stack:
        rig = add_rig(stack, "kept")
        fill(stack, rig)
        dump(stack, RELEASES / version / "database.dump")


if __name__ == "__main__":
    main(sys.argv[1])
