"""Restore drill: campaigns run with real agents, a backup is made, everything is wiped, and all of it is restored."""

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bring_up import wait_for
from local_stack import BIN, LocalStack
from opened import lend
from rig import FIO_SMALL, Rig, add_rig, running_stack

pytestmark = pytest.mark.timeout(900)

SMALL = {"file_size_bytes": 1024**2, "block_size_bytes": 64 * 1024}
LOAD = {**FIO_SMALL, "rw": "write"}
LEAP = 1_000_000


def lasting(seconds: float) -> dict[str, Any]:
    return {**LOAD, "runtime_seconds": seconds}


def iotide_server(*arguments: str | Path) -> str:
    """Return the output of the command."""
    command = [str(BIN / "iotide-server"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass(frozen=True)
class Kept:
    """Data of the runs for the comparison before and after: numbers, and digests of the raw output."""

    samples: dict[int, list[tuple[int, float]]]
    raw: dict[int, dict[str, str]]


def kept(stack: LocalStack, run_ids: list[int]) -> Kept:
    samples, raw = {}, {}
    for run_id in run_ids:
        numbers = stack.get("/samples", run_id=run_id, limit=500)["items"]
        samples[run_id] = sorted((number["series_id"], number["value"]) for number in numbers)
        pieces = stack.get(f"/runs/{run_id}/artefacts")["items"]
        contents = {piece["name"]: stack.api.get(f"/artefacts/{piece['id']}").content for piece in pieces}
        raw[run_id] = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        assert raw[run_id] == {piece["name"]: piece["sha256"] for piece in pieces}
    return Kept(samples, raw)


@dataclass
class Drill:
    """State before, in four clusters of one node each, and state after."""

    stack: LocalStack
    ended_run_ids: list[int]
    before: Kept
    running: Rig
    running_id: int
    running_starts: int
    ended_since: Rig
    ended_since_id: int
    begun_since: Rig
    begun_since_id: int
    said: str


def wipe(stack: LocalStack) -> None:
    """Kill the server with all its parts, and remove all its files."""
    parts = [stack.part_pid(name) for name in ("postgres", "redis", "api")]
    stack.kill_server()
    wait_for("the end of all parts", lambda: not any(Path(f"/proc/{pid}/fd").exists() for pid in parts) or None)
    shutil.rmtree(stack.directory / "server")


@pytest.fixture(scope="module")
def drill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drill]:
    with running_stack() as stack:
        running, ended, begun = (add_rig(stack, name) for name in ("running", "ended-since", "begun-since"))
        campaign = running.submit("dd", SMALL, repeats=3)
        stack.wait_campaign(campaign)
        ended_run_ids = [run["id"] for run in running.runs(campaign)]
        before = kept(stack, ended_run_ids)
        running_id = running.submit_one("fio", lasting(90))
        ended_id = ended.submit_one("fio", lasting(30), attempts_allowed=2)
        running.wait_running(running_id)
        ended.wait_running(ended_id)
        apart = tmp_path_factory.mktemp("apart")
        shutil.copyfile(stack.directory / "server/secrets/vault", apart / "vault")
        channel = {"kind": "webhook", "url": "https://hooks.example.org/x", "secret": "whsec_" + "c2VjcmV0" * 4}
        stack.post("/channels", {"name": "ops", "cluster_id": running.cluster_id, "receiver": channel})
        iotide_server("backup", apart / "all.tar", "--state", stack.directory / "server")
        begun_id = begun.submit_one("fio", lasting(120))
        begun.wait_running(begun_id)
        ended.wait_ended(ended_id)
        starts = len(running.loads.starts())
        wipe(stack)
        state = stack.directory / "server"
        vault = ("--vault-key-file", apart / "vault")
        said = iotide_server("restore", apart / "all.tar", "--state", lend(state), *vault)
        stack.start_server()
        yield Drill(stack, ended_run_ids, before, running, running_id, starts, ended, ended_id, begun, begun_id, said)


def drain_of(drill: Drill, rig: Rig) -> dict[str, Any]:
    drains = drill.stack.get("/drains", cluster_id=rig.cluster_id)
    return next(drain for drain in drains if drain["kind"] == "cluster")


def test_every_run_that_had_ended_is_there_with_its_numbers_and_raw_output(drill: Drill) -> None:
    assert kept(drill.stack, drill.ended_run_ids) == drill.before


def test_the_restore_reports_orders_in_flight_and_pending_decisions(drill: Drill) -> None:
    assert "3 nodes must report their orders; 2 orders were in flight" in drill.said
    assert "No new runs start in begun-since, ended-since, running" in drill.said


def test_runs_active_at_the_backup_continue_and_end_normally(drill: Drill) -> None:
    run = drill.running.wait_ended(drill.running_id, seconds=150)
    assert (run["state"], run["attempts_made"]) == ("finished", 1)
    assert len(drill.running.loads.starts()) == drill.running_starts
    assert drill.stack.get(f"/runs/{drill.running_id}/artefacts")["items"]


def test_runs_begun_after_the_backup_are_ended_by_their_agent_and_leave_nothing(drill: Drill) -> None:
    drill.begun_since.wait_clean(seconds=60)
    assert drill.stack.api.get(f"/runs/{drill.begun_since_id}").status_code == 404


def test_runs_ended_after_the_backup_are_retried_only_after_an_operator_resumes(drill: Drill) -> None:
    rig, run_id = drill.ended_since, drill.ended_since_id

    def given_up() -> dict[str, Any] | None:
        run = rig.run(run_id)
        return run if run["state"] == "waiting" else None

    run = wait_for("the agent's report", given_up, seconds=60)
    assert run["attempts"][0]["state"] == "lost"
    assert "after the backup is unknown" in run["attempts"][0]["reason"]
    assert len(rig.loads.starts()) == 1
    assert "The database was restored to" in drain_of(drill, rig)["reason"]
    assert "database was restored to" in rig.run(run_id)["waiting_because"]
    assert drill.stack.api.delete(f"/clusters/{rig.cluster_id}/drain").is_success
    again = rig.wait_ended(run_id, seconds=90)
    assert (again["state"], again["attempts_made"], len(rig.loads.starts())) == ("finished", 2, 2)


def test_numbers_that_were_given_out_are_not_given_out_again(drill: Drill) -> None:
    rig = drill.begun_since
    drill.stack.api.delete(f"/clusters/{rig.cluster_id}/drain")
    run_id = rig.submit_one("dd", SMALL)
    assert run_id > drill.begun_since_id + LEAP / 2
    assert rig.wait_ended(run_id, seconds=60)["state"] == "finished"


def test_browsers_sign_in_again_and_tokens_go_on(drill: Drill) -> None:
    assert drill.stack.get("/session")["principal"]["name"]
    with drill.stack.api.__class__(base_url=drill.stack.api.base_url) as browser:
        assert browser.get("/runs").status_code == 401
    assert drill.stack.browser_session()
