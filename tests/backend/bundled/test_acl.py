import hashlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kombu.transport.redis import Mutex
from redis import AuthenticationError, Redis
from redis.exceptions import NoPermissionError, RedisError, ResponseError
from services import running

from iotide_server.bundled.acl import (
    NodeAccess,
    apply_nodes,
    grant_node,
    node_queue,
    node_username,
    put_out_node,
    replace_node,
)
from iotide_server.bundled.redis import PrivateRedis
from iotide_server.bundled.state import StateDirectory

from .conftest import PASSWORD, A, B, connected, url_of, wait_until
from .node_worker import node_app


@pytest.fixture
def admin(redis: PrivateRedis) -> Iterator[Redis]:
    with connected(redis.admin_url) as connection:
        yield connection


@pytest.fixture
def node_a(redis: PrivateRedis, admin: Redis) -> Iterator[Redis]:
    """A connection as node A; node B exists as well and has a message waiting."""
    apply_nodes(admin, [A, B])
    admin.lpush(node_queue(B.node_id), "for B")
    admin.script_load(SCRIPT)
    with connected(url_of(redis, A.node_id)) as connection:
        yield connection


def push_within_a_transaction(redis: Redis) -> object:
    with redis.pipeline(transaction=True) as pipe:
        pipe.lpush("node.17", "forged")
        return pipe.execute()


SCRIPT = "return redis.call('LLEN', 'node.17')"


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


DENIED: dict[str, Callable[[Redis], Any]] = {
    "read B's queue": lambda redis: redis.lrange("node.17", 0, -1),
    "take from B's queue": lambda redis: redis.brpop(["node.17"], timeout=1),
    "push to B's queue": lambda redis: redis.lpush("node.17", "forged"),
    "push to B's priority queue": lambda redis: redis.lpush("node.17\x06\x163", "forged"),
    "push to the server's queue": lambda redis: redis.lpush("server", "forged"),
    "read what B has not acknowledged": lambda redis: redis.hget("unacked.17", "x"),
    "bind B's queue to its own name": lambda redis: redis.sadd("_kombu.binding.node.17", "x"),
    "reach B's queue from a script": lambda redis: redis.evalsha(sha1(SCRIPT), 0),
    "SCRIPT LOAD, of one that never ends": lambda redis: redis.script_load("while true do end"),
    "keep something under a name that only begins as its own": lambda redis: redis.set("node.7\x06x", "x"),
    "keep something under a name that only ends as its own": lambda redis: redis.sadd("_kombu.binding.x.node.7", "x"),
    "delete B's queue": lambda redis: redis.delete("node.17"),
    "rename B's queue": lambda redis: redis.rename("node.17", "node.7"),
    "move a message of B's": lambda redis: redis.rpoplpush("node.17", "node.7"),
    "copy B's queue": lambda redis: redis.copy("node.17", "node.7"),
    "sort B's queue into its own": lambda redis: redis.sort("node.17", store="node.7", alpha=True),
    "write to what B has not acknowledged": lambda redis: redis.hset("unacked.17", "x", "forged"),
    "delete what B has not acknowledged": lambda redis: redis.delete("unacked.17"),
    "read B's order of what is not acknowledged": lambda redis: redis.zrange("unacked_index.17", 0, -1),
    "add to B's order of what is not acknowledged": lambda redis: redis.zadd("unacked_index.17", {"x": 1.0}),
    "take B's lock": lambda redis: redis.set("unacked_mutex.17", "x", nx=True),
    "reach a queue whose number only begins with its own": lambda redis: redis.lpush("node.71", "forged"),
    "change B's queue within a transaction": push_within_a_transaction,
    "EVAL": lambda redis: redis.eval("return 1", 0),
    "SCRIPT FLUSH": lambda redis: redis.script_flush(),
    "SCRIPT KILL": lambda redis: redis.script_kill(),
    "CLIENT LIST": lambda redis: redis.client_list(),
    "CLIENT NO-EVICT": lambda redis: redis.execute_command("CLIENT", "NO-EVICT", "on"),  # type: ignore[no-untyped-call]
    "ACL SETUSER": lambda redis: redis.acl_setuser("iotide-node-7", enabled=True, commands=["+@all"]),
    "ACL WHOAMI": lambda redis: redis.acl_whoami(),
    "MIGRATE": lambda redis: redis.migrate("127.0.0.1", 1, ["node.7"], 0, 100),
    "DEBUG": lambda redis: redis.execute_command("DEBUG", "SLEEP", "0"),  # type: ignore[no-untyped-call]
    "PSUBSCRIBE": lambda redis: redis.execute_command("PSUBSCRIBE", "*"),  # type: ignore[no-untyped-call]
    "REPLICAOF": lambda redis: redis.replicaof("127.0.0.1", "1"),
    "SHUTDOWN": lambda redis: redis.execute_command("SHUTDOWN", "NOSAVE"),  # type: ignore[no-untyped-call]
    "MODULE LOAD": lambda redis: redis.execute_command("MODULE", "LOAD", "/tmp/x.so"),  # type: ignore[no-untyped-call]  # noqa: S108 - no such file
    "DUMP": lambda redis: redis.dump("node.17"),
    "SELECT": lambda redis: redis.execute_command("SELECT", "1"),  # type: ignore[no-untyped-call]
    "INFO": lambda redis: redis.info(),
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
        # iotide disables DEBUG and MODULE for all users, before Redis checks the ACL.
        return any(word in str(error) for word in ("permission", "can't access", "command not allowed"))
    return False


def test_a_node_cannot_reach_beyond_its_own_queue(node_a: Redis, admin: Redis) -> None:
    assert [what for what, attempt in DENIED.items() if not is_denied(attempt, node_a)] == []
    assert admin.lrange(node_queue(B.node_id), 0, -1) == ["for B"]


def test_a_removed_node_is_disconnected_at_once(redis: PrivateRedis, node_a: Redis, admin: Redis) -> None:
    assert node_a.ping()
    with connected(url_of(redis, B.node_id)) as node_b:
        assert node_b.ping()
        put_out_node(admin, A.node_id)
        with pytest.raises(RedisError):
            node_a.ping()
        assert node_b.ping()
    assert apply_nodes(admin, [B]), "the list is read again"


def test_nothing_of_a_removed_node_stays(node_a: Redis, admin: Redis) -> None:
    node_a.lpush(node_queue(A.node_id), "x")
    put_out_node(admin, A.node_id)
    grant_node(admin, A)
    node_a.sadd("_kombu.binding.node.7", "x")
    apply_nodes(admin, [B])
    assert set(admin.scan_iter()) == {node_queue(B.node_id)}


def test_a_next_password_works_with_the_present_one_and_later_replaces_it(redis: PrivateRedis, admin: Redis) -> None:
    old, new = (hashlib.sha256(word).hexdigest() for word in (PASSWORD.encode(), b"next"))
    next_url = url_of(redis, A.node_id).replace(PASSWORD, "next")
    apply_nodes(admin, [NodeAccess(A.node_id, old, new)])
    with connected(url_of(redis, A.node_id)) as before, connected(next_url) as after:
        assert before.ping()
        assert after.ping()
        replace_node(admin, NodeAccess(A.node_id, new))
        with pytest.raises(RedisError):
            before.ping()
    with connected(next_url) as again:
        assert again.ping()


@pytest.mark.parametrize("how", ["applied", "granted"])
def test_celery_gives_its_lock_back_by_the_script_that_the_server_loaded(
    redis: PrivateRedis, admin: Redis, how: str
) -> None:
    if how == "applied":
        apply_nodes(admin, [A])
    else:
        grant_node(admin, A)
    with connected(url_of(redis, A.node_id)) as node:
        with Mutex(node, "unacked_mutex.7", 300):
            assert admin.exists("unacked_mutex.7")
        assert not admin.exists("unacked_mutex.7")


def test_a_celery_worker_with_a_nodes_user_gets_its_wake_up(redis: PrivateRedis, node_a: Redis, tmp_path: Path) -> None:
    assert node_a.ping()
    received, program = tmp_path / "received", Path(__file__).with_name("node_worker.py")
    worker = subprocess.Popen(
        [sys.executable, str(program), url_of(redis, A.node_id), str(A.node_id), str(received)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        with node_app(redis.url, 0) as server:
            server.send_task("iotide.wake", (42, 4611686018427387904), queue="node.7", expires=30, retry=False)
            wait_until(received.exists)
            server.send_task("iotide.wake", (43, 5), queue="node.7", expires=30, retry=False)
            wait_until(lambda: received.read_text() == "42 4611686018427387904\n43 5\n")
    finally:
        worker.terminate()
        printed, _ = worker.communicate(timeout=60)
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


def test_access_without_a_password_is_rejected(redis: PrivateRedis) -> None:
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


def test_clients_with_an_invalid_password_are_disconnected_even_if_revoked_late(
    redis: PrivateRedis, node_a: Redis, admin: Redis
) -> None:
    old, new = A.password_sha256, hashlib.sha256(b"new").hexdigest()
    assert node_a.ping()
    with connected(url_of(redis, B.node_id)) as node_b:
        assert node_b.ping()
        assert apply_nodes(admin, [NodeAccess(A.node_id, old, new), B])
        assert [entry["user"] for entry in admin.client_list()].count(node_username(A.node_id)) == 1
        assert apply_nodes(admin, [NodeAccess(A.node_id, new), B])
        users = [entry["user"] for entry in admin.client_list()]
        assert (users.count(node_username(A.node_id)), users.count(node_username(B.node_id))) == (0, 1)


def test_users_of_others_stay(admin: Redis) -> None:
    admin.acl_setuser("backup", enabled=True, passwords=["+secret"], commands=["+ping"])
    apply_nodes(admin, [A])
    apply_nodes(admin, [])
    assert "backup" in admin.acl_users()


def test_a_node_granted_access_at_once_loses_it_if_its_row_never_arrives(redis: PrivateRedis, admin: Redis) -> None:
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
