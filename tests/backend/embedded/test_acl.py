import hashlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import AuthenticationError, Redis
from redis.exceptions import NoPermissionError, ResponseError
from services import running

from iotide_server.embedded.acl import NodeAccess, apply_nodes, grant_node, node_queue, node_username
from iotide_server.embedded.redis import PrivateRedis
from iotide_server.embedded.state import StateDirectory

from .conftest import wait_until
from .node_worker import node_app

PASSWORD = "of-both-nodes"
A, B = (NodeAccess(number, hashlib.sha256(PASSWORD.encode()).hexdigest()) for number in (7, 17))


def url_of(redis: PrivateRedis, node_id: int) -> str:
    return f"redis://{node_username(node_id)}:{PASSWORD}@127.0.0.1:{redis.port}/0"


@contextmanager
def connected(url: str) -> Iterator[Redis]:
    with Redis.from_url(url, decode_responses=True) as connection:
        yield connection


@pytest.fixture
def admin(redis: PrivateRedis) -> Iterator[Redis]:
    with connected(redis.admin_url) as connection:
        yield connection


@pytest.fixture
def node_a(redis: PrivateRedis, admin: Redis) -> Iterator[Redis]:
    """A connection as node A; node B exists as well and has a message waiting."""
    apply_nodes(admin, [A, B])
    admin.lpush(node_queue(B.node_id), "for B")
    with connected(url_of(redis, A.node_id)) as connection:
        yield connection


DENIED: dict[str, Callable[[Redis], Any]] = {
    "read B's queue": lambda redis: redis.lrange("node.17", 0, -1),
    "take from B's queue": lambda redis: redis.brpop(["node.17"], timeout=1),
    "push to B's queue": lambda redis: redis.lpush("node.17", "forged"),
    "push to B's priority queue": lambda redis: redis.lpush("node.17\x06\x163", "forged"),
    "push to the server's queue": lambda redis: redis.lpush("server", "forged"),
    "read what B has not acknowledged": lambda redis: redis.hget("unacked.17", "x"),
    "bind B's queue to its own name": lambda redis: redis.sadd("_kombu.binding.node.17", "x"),
    "reach B's queue from a script": lambda redis: redis.evalsha(
        redis.script_load("return redis.call('LLEN', 'node.17')"), 0
    ),
    "KEYS": lambda redis: redis.keys("*"),
    "SCAN": lambda redis: redis.scan(0),
    "CONFIG": lambda redis: redis.config_get("*"),
    "FLUSHALL": lambda redis: redis.flushall(),
    "PUBLISH": lambda redis: redis.publish("node.7", "x"),
    "SUBSCRIBE": lambda redis: redis.execute_command("SUBSCRIBE", "node.7"),  # type: ignore[no-untyped-call]
    "ACL": lambda redis: redis.acl_list(),
    "CLIENT KILL": lambda redis: redis.client_kill("127.0.0.1:1"),
    "MONITOR": lambda redis: redis.execute_command("MONITOR"),  # type: ignore[no-untyped-call]
}


def is_denied(attempt: Callable[[Redis], Any], redis: Redis) -> bool:
    try:
        attempt(redis)
    except ResponseError as error:
        return "permission" in str(error) or "can't access" in str(error)
    return False


def test_a_node_cannot_reach_beyond_its_own_queue(node_a: Redis, admin: Redis) -> None:
    assert [what for what, attempt in DENIED.items() if not is_denied(attempt, node_a)] == []
    assert admin.lrange(node_queue(B.node_id), 0, -1) == ["for B"]


def test_a_celery_worker_with_a_nodes_user_gets_its_wake_up(redis: PrivateRedis, node_a: Redis, tmp_path: Path) -> None:
    assert node_a.ping()
    heard, program = tmp_path / "heard", Path(__file__).with_name("node_worker.py")
    worker = subprocess.Popen(
        [sys.executable, str(program), url_of(redis, A.node_id), str(A.node_id), str(heard)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        with node_app(redis.url, 0) as server:
            server.send_task("iotide.wake", (42, 4611686018427387904), queue="node.7", expires=30, retry=False)
            wait_until(heard.exists)
            server.send_task("iotide.wake", (43, 5), queue="node.7", expires=30, retry=False)
            wait_until(lambda: heard.read_text() == "42 4611686018427387904\n43 5\n")
    finally:
        worker.terminate()
        printed, _ = worker.communicate(timeout=20)
    assert "NOPERM" not in printed
    assert "no permissions" not in printed


def test_the_server_may_use_every_queue_and_administer_nothing(redis: PrivateRedis, admin: Redis) -> None:
    assert apply_nodes(admin, [A])
    with connected(redis.url) as server:
        assert server.lpush("node.7", "x") == 1
        assert server.lpush("server", "x") == 1
        for attempt in (server.flushall, server.acl_list, lambda: server.keys("*")):
            with pytest.raises(NoPermissionError):
                attempt()


def test_nobody_gets_in_without_a_password(redis: PrivateRedis) -> None:
    with connected(f"redis://127.0.0.1:{redis.port}/0") as anyone, pytest.raises(AuthenticationError):
        anyone.ping()


def test_applying_again_changes_nothing_until_the_rows_change(admin: Redis) -> None:
    assert apply_nodes(admin, [A, B])
    assert not apply_nodes(admin, [B, A])
    assert apply_nodes(admin, [A])
    assert node_username(B.node_id) not in admin.acl_users()


def test_a_new_password_shuts_out_the_old_one(redis: PrivateRedis, admin: Redis) -> None:
    apply_nodes(admin, [A])
    apply_nodes(admin, [NodeAccess(A.node_id, hashlib.sha256(b"new").hexdigest())])
    with connected(url_of(redis, A.node_id)) as old, pytest.raises(AuthenticationError):
        old.ping()


def test_users_of_others_stay(admin: Redis) -> None:
    admin.acl_setuser("backup", enabled=True, passwords=["+secret"], commands=["+ping"])
    apply_nodes(admin, [A])
    apply_nodes(admin, [])
    assert "backup" in admin.acl_users()


def test_a_node_let_in_at_once_is_put_out_when_its_row_never_came(redis: PrivateRedis, admin: Redis) -> None:
    apply_nodes(admin, [A])
    grant_node(admin, B)
    with connected(url_of(redis, B.node_id)) as connection:
        assert connection.ping()
    assert apply_nodes(admin, [A])
    assert node_username(B.node_id) not in admin.acl_users()


def test_users_come_back_after_redis_forgot_them(state: StateDirectory, redis: PrivateRedis) -> None:
    with connected(redis.admin_url) as first:
        apply_nodes(first, [A])
        first.shutdown(nosave=True)
    with running(redis.part(), state), connected(redis.admin_url) as second:
        assert apply_nodes(second, [A])
        with connected(url_of(redis, A.node_id)) as node:
            assert node.ping()


def test_a_digest_of_another_form_is_refused() -> None:
    with pytest.raises(ValueError, match="node 7: password_sha256"):
        NodeAccess(7, "plain text")
