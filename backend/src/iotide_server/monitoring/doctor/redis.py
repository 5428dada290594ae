"""Redis: reachable, of a version that Celery works with, roomy, and open to our own users alone."""

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
OTHER_CLIENTS: Final = 50  # of the server's own parts, with room
LONG_QUEUE: Final = 1000
_DEFAULT: Final = "default"
_SETTINGS: Final = ("appendonly", "save", "maxmemory", "maxmemory-policy", "maxclients")


@dataclass(frozen=True, slots=True)
class RedisUser:
    """A user of Redis."""

    name: str
    is_enabled: bool
    is_open: bool  # it needs no password
    reaches_keys: bool  # it may touch keys at all
    digests: frozenset[str] = frozenset()  # SHA-256 of its passwords, hexadecimal


@dataclass(frozen=True, slots=True)
class RedisFacts:
    """What Redis says of itself."""

    version: tuple[int, ...]
    settings: Mapping[str, str] | None  # of `CONFIG GET`; None where we may not ask, as with hosted ones
    users: Sequence[RedisUser] | None  # None where we may not ask
    own_names: frozenset[str]  # users of our own connections
    queue_length: int
    kept_bytes: int  # what all keys and users need
    is_writing: bool = True  # its last write to the append-only file went well, as far as it reports


def read_redis(own: Redis, admin: Redis) -> RedisFacts:
    """Ask by the server's usual connection and by the one with the right to `ACL`; raise RedisError."""
    length = own.llen(SERVER_QUEUE)
    told: Any = admin.info("server")
    version = tuple(int(part) for part in str(told["redis_version"]).split(".")[:2])
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
        told: Any = admin.config_get(*_SETTINGS)
    except RedisError:
        return None
    return {_text(name): _text(value) for name, value in told.items()}


def _users(admin: Redis) -> Sequence[RedisUser] | None:
    try:
        names: Any = admin.acl_users()
        return [_user(_text(name), admin.acl_getuser(_text(name))) for name in names]
    except RedisError:
        return None


def _user(name: str, told: Any) -> RedisUser:  # noqa: ANN401 - whatever redis-py makes of the answer
    flags = {_text(flag) for flag in told["flags"]}
    return RedisUser(
        name=name,
        is_enabled="on" in flags,
        is_open="nopass" in flags,
        reaches_keys=bool(told["keys"]),
        digests=frozenset(_text(digest) for digest in told["passwords"]),
    )


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def unreachable(error: str) -> Finding:
    """Nothing else can be said of it then."""
    remedy = "start Redis, or look at IOTIDE_REDIS_URL, IOTIDE_REDIS_ADMIN_URL and the network"
    return wrong("redis", f"Redis does not answer: {error}", remedy)


def judge_redis(facts: RedisFacts, nodes: Sequence[NodeAccess]) -> Iterator[Finding]:
    """Judge all that concerns Redis, where each of the nodes is to have a user of its own."""
    yield _version(facts.version)
    if facts.settings is None:
        remedy = "give IOTIDE_REDIS_ADMIN_URL the right to CONFIG GET, or look at its settings where it is hosted"
        yield warning("redis_settings", "it does not tell us its settings", remedy)
    else:
        yield _persistence(facts.settings, is_writing=facts.is_writing)
        yield _memory(facts.settings, facts.kept_bytes)
        yield _clients(facts.settings, len(nodes))
    if facts.users is None:
        remedy = "give IOTIDE_REDIS_ADMIN_URL a user with the right to ACL: without it no agent can be let in"
        yield wrong("redis_users", "we may not administer its users", remedy)
    else:
        yield _default_user(facts.users, facts.own_names)
        yield _node_users(facts.users, nodes)
        yield _foreign_users(facts.users, facts.own_names)
    if facts.queue_length > LONG_QUEUE:
        sentence = f"{facts.queue_length} messages wait for the server's worker"
        yield warning("redis_queue", sentence, "look whether the worker runs; start a second one where it is busy")


def _version(version: tuple[int, ...]) -> Finding:
    words = ".".join(map(str, version))
    if version < OLDEST_VERSION:
        return wrong("redis", f"Redis {words} answers", f"use Redis {'.'.join(map(str, OLDEST_VERSION))} or newer")
    return fine("redis", f"Redis {words} answers")


def _persistence(settings: Mapping[str, str], *, is_writing: bool) -> Finding:
    if not is_writing:
        sentence = "it cannot write its append-only file and takes no wake-ups: its disk is full or broken"
        return wrong("redis_persistence", sentence, "make room on its disk; it goes on by itself then")
    if settings["appendonly"] == "yes":
        return fine("redis_persistence", "it keeps its messages over a restart")
    remedy = "set `appendonly yes` in redis.conf"
    sentence = "it forgets wake-ups when it is killed; each costs its run up to half a minute until it is sent again"
    return warning("redis_persistence", sentence, remedy)


def _memory(settings: Mapping[str, str], kept: int) -> Finding:
    policy = settings["maxmemory-policy"]
    if settings["maxmemory"] != "0" and policy != "noeviction":
        sentence = f"when it is full it throws keys away ({policy}), queues among them"
        return wrong("redis_memory", sentence, "set `maxmemory-policy noeviction` in redis.conf")
    if kept > USUAL_BYTES:
        sentence = f"it keeps {kept // MIB} MiB, far more than wake-ups need: a node may be filling it"
        remedy = "revoke the node that the scheduler's log names in node_filled_redis, or see who else uses this Redis"
        return warning("redis_memory", sentence, remedy)
    if settings["maxmemory"] == "0":
        sentence = "nothing bounds its memory: a node that was taken over could fill the machine's"
        return warning("redis_memory", sentence, "set `maxmemory 512mb` in redis.conf, and the limits beside it")
    return fine("redis_memory", f"it throws nothing away and takes at most {int(settings['maxmemory']) // MIB} MiB")


def _clients(settings: Mapping[str, str], node_count: int) -> Finding:
    most, needed = int(settings["maxclients"]), CLIENTS_A_NODE * node_count + OTHER_CLIENTS
    if most < needed:
        sentence = f"it lets {most} clients in; {node_count} nodes and the server need {needed}"
        remedy = f"set `maxclients {needed + needed // 4}` in redis.conf, and let it open as many files (ulimit -n)"
        return wrong("redis_clients", sentence, remedy)
    return fine("redis_clients", f"it lets {most} clients in, enough for {node_count} nodes")


def _default_user(users: Sequence[RedisUser], own_names: frozenset[str]) -> Finding:
    remedy = "set `user default off` in redis.conf, and give the server a user of its own in IOTIDE_REDIS_URL"
    default = next((user for user in users if user.name == _DEFAULT), None)
    if default is None or not default.is_enabled:
        return fine("redis_default_user", "nobody gets in without a user of their own")
    if default.is_open:
        return wrong("redis_default_user", "its default user is open: whoever reaches it may do anything", remedy)
    who = "and the server is that user" if _DEFAULT in own_names else "with a password"
    return warning("redis_default_user", f"its default user is on, {who}", remedy)


def _node_users(users: Sequence[RedisUser], nodes: Sequence[NodeAccess]) -> Finding:
    enabled = {user.name: user.digests for user in users if user.is_enabled}
    wanted = {node_username(node.node_id): node.password_sha256 for node in nodes}
    missing = sorted(name for name, digest in wanted.items() if digest not in enabled.get(name, ()))
    stale = sorted(name for name in enabled if is_node_username(name) and name not in wanted)
    remedy = (
        "start the scheduler, which brings them in line within seconds; look into its log for redis_users_not_applied"
    )
    if missing:
        return wrong("redis_node_users", f"not let in: {some(missing)}", remedy)
    if stale:
        return wrong("redis_node_users", f"let in although they are no nodes any more: {some(stale)}", remedy)
    return fine("redis_node_users", f"each of the {len(wanted)} nodes has its user")


def _foreign_users(users: Sequence[RedisUser], own_names: frozenset[str]) -> Finding:
    ours = {_DEFAULT, SERVER_USER, ADMIN_USER, *own_names}
    foreign = sorted(
        user.name
        for user in users
        if user.is_enabled and user.reaches_keys and user.name not in ours and not is_node_username(user.name)
    )
    if foreign:
        sentence = f"others have users that reach keys: {some(foreign)}"
        return warning("redis_foreign_users", sentence, "give iotide a Redis of its own, or take their rights away")
    return fine("redis_foreign_users", "no users but ours reach its keys")
