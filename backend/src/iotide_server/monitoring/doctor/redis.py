"""Checks of Redis."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from redis import Redis, RedisError

from iotide_server.bundled.acl import ADMIN_USER, SERVER_USER, NodeAccess, is_node_username, node_username
from iotide_server.bundled.overfull import USUAL_BYTES, kept_bytes
from iotide_server.bundled.redis import OLDEST_VERSION
from iotide_server.kit.queue import SERVER_QUEUE
from iotide_server.monitoring.doctor.findings import Finding, fine, some, warning, wrong
from iotide_wire.units import MIB

CLIENTS_A_NODE: Final = 3
OTHER_CLIENTS: Final = 50  # the server's own parts, with a margin
LONG_QUEUE: Final = 1000
_DEFAULT: Final = "default"
_SETTINGS: Final = ("appendonly", "save", "maxmemory", "maxmemory-policy", "maxclients")


@dataclass(frozen=True, slots=True)
class RedisUser:
    name: str
    is_enabled: bool
    is_open: bool
    reaches_keys: bool
    digests: frozenset[str] = frozenset()  # SHA-256 of its passwords, hexadecimal


@dataclass(frozen=True, slots=True)
class RedisFacts:
    version: tuple[int, ...]
    settings: Mapping[str, str] | None  # of `CONFIG GET`; None: not permitted, as on hosted Redis
    users: Sequence[RedisUser] | None
    own_names: frozenset[str]
    queue_length: int
    kept_bytes: int
    is_writing: bool = True  # the last write to the append-only file succeeded, if reported


def read_redis(own: Redis, admin: Redis) -> RedisFacts:
    """Raise RedisError."""
    length = own.llen(SERVER_QUEUE)
    reply: Any = admin.info("server")
    version = tuple(int(part) for part in str(reply["redis_version"]).split(".")[:2])
    names = {
        str(connection.connection_pool.connection_kwargs.get("username") or _DEFAULT) for connection in (own, admin)
    }
    persistence: Any = admin.info("persistence")
    is_writing = persistence.get("aof_last_write_status", "ok") == "ok"
    return RedisFacts(
        version, _settings(admin), _users(admin), frozenset(names), int(length), kept_bytes(admin), is_writing
    )


def _settings(admin: Redis) -> Mapping[str, str] | None:
    try:
        reply: Any = admin.config_get(*_SETTINGS)
    except RedisError:
        return None
    return {_text(name): _text(value) for name, value in reply.items()}


def _users(admin: Redis) -> Sequence[RedisUser] | None:
    try:
        names: Any = admin.acl_users()
        return [_user(_text(name), admin.acl_getuser(_text(name))) for name in names]
    except RedisError:
        return None


def _user(name: str, reply: Any) -> RedisUser:  # noqa: ANN401 - redis-py's answer
    flags = {_text(flag) for flag in reply["flags"]}
    return RedisUser(
        name=name,
        is_enabled="on" in flags,
        is_open="nopass" in flags,
        reaches_keys=bool(reply["keys"]),
        digests=frozenset(_text(digest) for digest in reply["passwords"]),
    )


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def unreachable(error: str) -> Finding:
    remedy = "start Redis, or check IOTIDE_REDIS_URL, IOTIDE_REDIS_ADMIN_URL and the network"
    return wrong("redis", f"Redis does not answer: {error}", remedy)


def judge_redis(facts: RedisFacts, nodes: Sequence[NodeAccess]) -> Iterator[Finding]:
    yield _version(facts.version)
    if facts.settings is None:
        remedy = "give the user of IOTIDE_REDIS_ADMIN_URL the right to CONFIG GET, or check the settings at its host"
        yield warning("redis_settings", "it does not show its settings", remedy)
    else:
        yield _persistence(facts.settings, is_writing=facts.is_writing)
        yield _memory(facts.settings, facts.kept_bytes)
        yield _clients(facts.settings, len(nodes))
    if facts.users is None:
        remedy = "use a user with the right to ACL in IOTIDE_REDIS_ADMIN_URL; without it no agent can connect"
        yield wrong("redis_users", "iotide cannot administer its users", remedy)
    else:
        yield _default_user(facts.users, facts.own_names)
        yield _node_users(facts.users, nodes)
        yield _foreign_users(facts.users, facts.own_names)
    if facts.queue_length > LONG_QUEUE:
        sentence = f"{facts.queue_length} messages wait for the server's worker"
        yield warning("redis_queue", sentence, "check that the worker runs; start a second one if it is busy")


def _version(version: tuple[int, ...]) -> Finding:
    words = ".".join(map(str, version))
    if version < OLDEST_VERSION:
        return wrong("redis", f"Redis {words} answers", f"use Redis {'.'.join(map(str, OLDEST_VERSION))} or newer")
    return fine("redis", f"Redis {words} answers")


def _persistence(settings: Mapping[str, str], *, is_writing: bool) -> Finding:
    if not is_writing:
        sentence = "it cannot write its append-only file and accepts no wake-ups: its disk is full or broken"
        return wrong("redis_persistence", sentence, "free space on its disk; it then recovers automatically")
    if settings["appendonly"] == "yes":
        return fine("redis_persistence", "its messages survive a restart")
    remedy = "set `appendonly yes` in redis.conf"
    sentence = "a crash loses wake-ups; each lost one delays its run by up to 30 s, until it is sent again"
    return warning("redis_persistence", sentence, remedy)


def _memory(settings: Mapping[str, str], kept: int) -> Finding:
    policy = settings["maxmemory-policy"]
    if settings["maxmemory"] != "0" and policy != "noeviction":
        sentence = f"when it is full it evicts keys ({policy}), including queues"
        return wrong("redis_memory", sentence, "set `maxmemory-policy noeviction` in redis.conf")
    if kept > USUAL_BYTES:
        sentence = f"it stores {kept // MIB} MiB, far more than wake-ups need: a node may be filling it"
        remedy = (
            "revoke the node that the scheduler's log names in node_filled_redis, or find out what else uses this Redis"
        )
        return warning("redis_memory", sentence, remedy)
    if settings["maxmemory"] == "0":
        sentence = "its memory is unlimited: a compromised node could fill the machine's memory"
        return warning("redis_memory", sentence, "set `maxmemory 512mb` and the related limits in redis.conf")
    return fine("redis_memory", f"it evicts nothing and uses at most {int(settings['maxmemory']) // MIB} MiB")


def _clients(settings: Mapping[str, str], node_count: int) -> Finding:
    most, needed = int(settings["maxclients"]), CLIENTS_A_NODE * node_count + OTHER_CLIENTS
    if most < needed:
        sentence = f"it allows {most} clients; {node_count} nodes and the server need {needed}"
        remedy = f"set `maxclients {needed + needed // 4}` in redis.conf, and allow it as many open files (ulimit -n)"
        return wrong("redis_clients", sentence, remedy)
    return fine("redis_clients", f"it allows {most} clients, enough for {node_count} nodes")


def _default_user(users: Sequence[RedisUser], own_names: frozenset[str]) -> Finding:
    remedy = "set `user default off` in redis.conf, and give the server its own user in IOTIDE_REDIS_URL"
    default = next((user for user in users if user.name == _DEFAULT), None)
    if default is None or not default.is_enabled:
        return fine("redis_default_user", "its default user is off")
    if default.is_open:
        return wrong(
            "redis_default_user",
            "its default user needs no password: every client that reaches it has full access",
            remedy,
        )
    who = "and the server uses it" if _DEFAULT in own_names else "with a password"
    return warning("redis_default_user", f"its default user is on, {who}", remedy)


def _node_users(users: Sequence[RedisUser], nodes: Sequence[NodeAccess]) -> Finding:
    enabled = {user.name: user.digests for user in users if user.is_enabled}
    wanted = {node_username(node.node_id): node.password_sha256 for node in nodes}
    missing = sorted(name for name, digest in wanted.items() if digest not in enabled.get(name, ()))
    stale = sorted(name for name in enabled if is_node_username(name) and name not in wanted)
    remedy = "start the scheduler, which updates them within seconds; check its log for redis_users_not_applied"
    if missing:
        return wrong("redis_node_users", f"nodes without a user: {some(missing)}", remedy)
    if stale:
        return wrong("redis_node_users", f"users of nodes that no longer exist: {some(stale)}", remedy)
    return fine("redis_node_users", f"each of the {len(wanted)} nodes has its user")


def _foreign_users(users: Sequence[RedisUser], own_names: frozenset[str]) -> Finding:
    ours = {_DEFAULT, SERVER_USER, ADMIN_USER, *own_names}
    foreign = sorted(
        user.name
        for user in users
        if user.is_enabled and user.reaches_keys and user.name not in ours and not is_node_username(user.name)
    )
    if foreign:
        sentence = f"other users can access keys: {some(foreign)}"
        return warning("redis_foreign_users", sentence, "give iotide its own Redis, or remove their rights")
    return fine("redis_foreign_users", "only iotide's users can access its keys")
