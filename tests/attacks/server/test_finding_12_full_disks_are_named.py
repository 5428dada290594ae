"""Finding 12 and F15 of the security review: no message named a full disk of the agent or the server."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import psycopg
import pytest
from bring_up import free_port
from factories.clock import MovedClock
from factories.site import Site
from fastapi.testclient import TestClient
from made_mounts import FileSystem, made_mount, run_as_root
from opened import lend
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from redis import Redis, RedisError
from services import running
from sqlalchemy import text

from iotide_server.agent_api.idle_heartbeats import idle_heartbeat
from iotide_server.agent_api.idle_repository import IdleHeartbeat, store_idle_heartbeats
from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.bundled.privileges import choose_account
from iotide_server.bundled.redis import prepare_redis
from iotide_server.bundled.state import prepare_state_directory
from iotide_server.change_feed import health
from iotide_server.kit.db import StorageFailure
from iotide_server.monitoring.doctor.database import storage_failed
from iotide_server.monitoring.doctor.redis import judge_redis, read_redis
from iotide_wire.messages import HeartbeatRequest
from iotide_wire.units import MIB

WORDS: Final = "the disk of /var/lib/iotide has 0 B free, and the records of a run need 16 MiB; make room there"
LIMIT_SECONDS: Final = 60.0


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """Mount a disk of 8 MiB that every user may enter, as the server's own user must."""
    root = Path(tempfile.mkdtemp(prefix="iotide-"))
    try:
        root.chmod(0o755)
        with made_mount(FileSystem("tmpfs", options=("mode=0755",), size_bytes=8 * MIB), root / "small") as mount:
            yield mount.point
    finally:
        shutil.rmtree(root)


def test_a_node_with_a_full_agent_disk_is_skipped_with_the_agents_reason(plant: Site) -> None:
    plant.add_runs([1])
    agent = plant.agent(1)
    agent.heartbeat(problem=WORDS)
    assert plant.node(1).problem == f"its agent says: {WORDS}"
    assert plant.start() == []
    agent.heartbeat()
    assert plant.node(1).problem is None
    assert len(plant.start()) == 1


def test_another_reason_on_a_node_outweighs_its_agents_reason(plant: Site) -> None:
    plant.change("UPDATE node SET problem = 'no answer to an offer'")
    plant.agent(1).heartbeat(problem=WORDS)
    plant.agent(1).heartbeat()
    assert plant.node(1).problem == "no answer to an offer"


def test_idle_heartbeats_that_change_a_problem_are_stored_one_by_one(plant: Site) -> None:
    agent = plant.agent(1)
    agent.heartbeat()
    said = HeartbeatRequest(
        agent_instance=agent.instance, boot_id=agent.boot_id, sent_at=plant.clock(), orders=(), problem=WORDS
    )
    headers = {"authorization": "Bearer iotide_node_x", "content-type": "application/json"}
    assert idle_heartbeat(headers, said.model_dump_json().encode()) is None
    agent.heartbeat(problem=WORDS)
    now = plant.clock()
    with plant.database.transaction() as session:
        token = str(session.scalar(text("SELECT token_sha256 FROM node WHERE id = :id"), {"id": agent.node_id}))
        assert store_idle_heartbeats(session, [IdleHeartbeat(token, agent.instance, None, 0)], now, now) == []


def test_postgresql_s_full_disk_is_a_separate_failure_and_shown_in_the_health(
    client: TestClient,
    clock: MovedClock,
    postgres_server: PrivatePostgres,
    migrated_url: str,
    small_disk: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    space = small_disk / "space"
    space.mkdir(mode=0o700)
    run_as_root("chown", str(postgres_server.state.account.uid), space)
    superuser = make_conninfo(postgres_server.superuser_url, dbname=conninfo_to_dict(migrated_url)["dbname"])
    owner = conninfo_to_dict(migrated_url)["user"]
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute(f"CREATE TABLESPACE small LOCATION '{space}'".encode())
        connection.execute(f"GRANT CREATE ON TABLESPACE small TO {owner}".encode())
        connection.execute(
            f"CREATE TABLE filled (content text) TABLESPACE small; ALTER TABLE filled OWNER TO {owner}".encode()
        )
        try:
            fill = text("INSERT INTO filled SELECT repeat(md5(n::text), 30) FROM generate_series(1, 20000) AS n")
            with monkeypatch.context() as patch:
                patch.setattr(health, "schema_state", lambda session: session.execute(fill))
                refused = client.get("/api/v1/ready")
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "10")
            error = refused.json()["error"]
            assert (error["code"], error["message"], error["remedy"]) == (
                *("storage_full", "the disk of the database is full"),
                "free disk space there; the service then continues automatically",
            )
            answer = client.get("/api/v1/health").json()
            assert (answer["status"], answer["database"]) == ("degraded", "full")
            clock.move(120)
            assert client.get("/api/v1/health").json()["database"] == "ok"
        finally:
            connection.execute("DROP TABLE filled")
            connection.execute("DROP TABLESPACE small")


def test_the_doctor_names_a_full_and_a_failing_disk_of_postgresql() -> None:
    full = storage_failed(StorageFailure.FULL)
    assert full.sentence == "PostgreSQL's disk is full: nothing new can be stored"
    assert full.remedy == "free space there; PostgreSQL and the service then recover automatically"
    assert storage_failed(StorageFailure.BROKEN).sentence == "PostgreSQL's disk reports errors"


def test_redis_without_room_for_its_append_only_file_is_full_and_not_down(small_disk: Path) -> None:
    root = lend(small_disk / "state")
    state = prepare_state_directory(root, choose_account(root))
    redis = prepare_redis(state, port=free_port())
    with (
        running(redis.part(), state),
        closing(Redis.from_url(redis.admin_url)) as admin,
    ):
        assert health._look_at_redis(admin) == "ok"
        ends_at = time.monotonic() + LIMIT_SECONDS
        while health._look_at_redis(admin) == "ok":
            assert time.monotonic() < ends_at
            with suppress(RedisError):
                admin.set("filled", "x" * (MIB // 2))
        assert health._look_at_redis(admin) == "full"
        findings = judge_redis(read_redis(admin, admin), [])
        (finding,) = [finding for finding in findings if finding.check == "redis_persistence"]
        assert finding.sentence.startswith("it cannot write its append-only file and accepts no wake-ups")
