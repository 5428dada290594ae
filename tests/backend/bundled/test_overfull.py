import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest
from redis import Redis
from redis.exceptions import OutOfMemoryError, RedisError

from iotide_server.bundled.acl import ADMIN_USER, apply_nodes, node_queue, node_username
from iotide_server.bundled.overfull import empty_overfull, kept_bytes
from iotide_server.bundled.redis import PrivateRedis
from iotide_wire.units import MIB

from .conftest import PASSWORD, A, B, connected, url_of, wait_until

NODES = [A.node_id, B.node_id]


@pytest.fixture
def admin(redis: PrivateRedis) -> Iterator[Redis]:
    with connected(redis.admin_url) as connection:
        apply_nodes(connection, [A, B])
        connection.config_set("appendonly", "no")  # saves disk writes
        yield connection


@pytest.fixture
def node_a(redis: PrivateRedis) -> Iterator[Redis]:
    with connected(url_of(redis, A.node_id)) as connection:
        yield connection


def fill(node: Redis, *, value: str) -> None:
    """Write until Redis rejects writes."""
    with suppress(OutOfMemoryError):
        while True:
            node.lpush(node_queue(A.node_id), *[value] * (5_000_000 // len(value)))


@pytest.mark.parametrize("value_bytes", [200, 100_000])
def test_a_node_that_fills_redis_loses_what_is_in_it_and_others_go_on(
    redis: PrivateRedis, node_a: Redis, admin: Redis, value_bytes: int
) -> None:
    admin.config_set("maxmemory", 150 * MIB)
    with connected(redis.url) as server:
        server.lpush(node_queue(B.node_id), "for B")
        fill(node_a, value="x" * value_bytes)
        assert apply_nodes(admin, [A, B, replace(B, node_id=27)]), "users can still be changed"
        (overfull,) = empty_overfull(admin, NODES).items()
        assert overfull[0] == A.node_id
        assert 100 * MIB < overfull[1] < 150 * MIB
        assert server.lpush(node_queue(B.node_id), "for B too") == 2
    wait_until(lambda: kept_bytes(admin) < 20 * MIB)  # Redis frees it in the background


def test_elements_that_are_small_at_the_front_hide_none_behind_them(node_a: Redis, admin: Redis) -> None:
    for _ in range(20):
        node_a.rpush(node_queue(A.node_id), *["x" * 100_000] * 100)
    for size in range(100):
        node_a.lpush(node_queue(A.node_id), "x" * (9000 if size % 2 else 1))
    assert list(empty_overfull(admin, NODES)) == [A.node_id]


def test_a_node_is_left_its_few_messages_however_much_others_have(node_a: Redis, admin: Redis) -> None:
    node_a.lpush(node_queue(A.node_id), *["x" * 500] * 100)
    admin.lpush("server", *["x" * 1000] * 140_000)
    assert kept_bytes(admin) > 128 * MIB
    assert empty_overfull(admin, NODES) == {}
    assert admin.llen(node_queue(A.node_id)) == 100


def test_no_value_is_larger_than_a_mebibyte(node_a: Redis, admin: Redis) -> None:
    with pytest.raises(RedisError):
        node_a.set(node_queue(A.node_id), "x" * (2 * MIB))
    assert not admin.exists(node_queue(A.node_id))


def test_answers_that_a_node_does_not_read_are_not_kept_for_it(
    redis: PrivateRedis, node_a: Redis, admin: Redis
) -> None:
    node_a.set(node_queue(A.node_id), "x" * 1_000_000)
    node_a.close()
    with socket.create_connection(("127.0.0.1", redis.port)) as unread:
        unread.sendall(f"AUTH {node_username(A.node_id)} {PASSWORD}\r\n".encode())
        assert unread.recv(100) == b"+OK\r\n"
        unread.sendall(f"GET {node_queue(A.node_id)}\r\n".encode() * 200)
        # A client that reads while the server answers would receive all of them.
        wait_until(lambda: {client["user"] for client in admin.client_list()} == {ADMIN_USER})
        assert kept_bytes(admin) < 20 * MIB
