"""Redis users: each node may use its own queue, the server all queues."""

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from redis import Redis
from redis.exceptions import ResponseError
from redis.lock import Lock

SERVER_USER = "iotide-server"
ADMIN_USER = "iotide-admin"

CELERY_COMMANDS = (
    *("+ping", "+brpop", "+llen", "+sadd", "+smembers", "+rpush", "+lpush"),
    *("+hset", "+hget", "+hdel", "+zadd", "+zrem", "+zrange", "+watch", "+unwatch", "+multi", "+exec"),
    *("+set", "+get", "+del", "+evalsha"),
)
"""Commands of a Celery 5.7 worker without remote control, gossip and mingle, found by experiment.

It reads (BRPOP, LLEN), announces its queue (SADD), and stores unacknowledged messages (hash, sorted set, WATCH ...
EXEC, RPUSH, LPUSH) under a lock (SET NX; a script of GET and DEL, loaded by `apply_nodes`). AUTH and HELLO need no
permission. Redis 7.0 does not know CLIENT SETINFO; redis-py tolerates that. No SCRIPT LOAD, because a node's script
could block Redis forever, and scripts count towards no memory limit.
"""

_NODE_USER_PREFIX = "iotide-node-"
_MARKER_USER = "iotide-nodes-applied"
_LOWER_PRIORITIES = (3, 6, 9)
_SHA256_HEX = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class NodeAccess:
    node_id: int
    password_sha256: str  # hexadecimal; only the node has the password
    next_password_sha256: str | None = None  # also valid, until its rotation is complete

    def __post_init__(self) -> None:
        for digest in self.digests:
            if not _SHA256_HEX.fullmatch(digest):
                raise ValueError(f"node {self.node_id}: password_sha256 must be 64 lower-case hexadecimal digits")

    @property
    def digests(self) -> tuple[str, ...]:
        return (self.password_sha256, *([] if self.next_password_sha256 is None else [self.next_password_sha256]))


def own_users(*, server_password: str, admin_password: str) -> tuple[str, ...]:
    return (
        "user default off",
        _user_line(ADMIN_USER, admin_password, "~*", "&*", "+@all"),
        _user_line(SERVER_USER, server_password, "~*", "resetchannels", "-@all", *CELERY_COMMANDS, "+script|load"),
    )


def node_username(node_id: int) -> str:
    return f"{_NODE_USER_PREFIX}{node_id}"


def is_node_username(name: str) -> bool:
    return name.startswith(_NODE_USER_PREFIX) and name.removeprefix(_NODE_USER_PREFIX).isdecimal()


def node_queue(node_id: int) -> str:
    return f"node.{node_id}"


def node_transport_options(node_id: int) -> dict[str, str]:
    """Give a node its own keys for unacknowledged messages."""
    return {
        "unacked_key": f"unacked.{node_id}",
        "unacked_index_key": f"unacked_index.{node_id}",
        "unacked_mutex_key": f"unacked_mutex.{node_id}",
    }


def node_keys(node_id: int) -> tuple[str, ...]:
    """Return all keys of a node. Patterns would allow any number."""
    queue = node_queue(node_id)
    # Celery also reads queues of lower priorities, which stay empty.
    lower = (f"{queue}\x06\x16{priority}" for priority in _LOWER_PRIORITIES)
    bindings = (f"_kombu.binding.{queue}", f"_kombu.binding_permanent.{queue}")
    return (queue, *lower, *bindings, *node_transport_options(node_id).values())


def apply_nodes(admin: Redis, nodes: Iterable[NodeAccess]) -> bool:
    """Set Redis' node users to exactly these. Return whether anything changed. Raise RedisError.

    Called regularly, because Redis forgets them when it restarts. A disabled marker user has the list's digest as its
    password, so that an unchanged list costs one lookup.
    """
    wanted = {node_username(node.node_id): node for node in nodes}
    digest = _digest(wanted.values())
    marker = admin.acl_getuser(_MARKER_USER)
    if marker is not None and marker["passwords"] == [digest]:
        return False
    present = _passwords(admin)
    obsolete = [name for name in present if name not in wanted]
    # Clients with a void password would stay connected.
    outdated = [name for name, digests in present.items() if name in wanted and not digests <= {*wanted[name].digests}]
    # One MULTI, so that concurrent callers cannot mix their lists.
    with admin.pipeline(transaction=True) as pipe:
        pipe.script_load(Lock.LUA_RELEASE_SCRIPT)
        if obsolete:
            pipe.acl_deluser(*obsolete)
            pipe.unlink(*(key for name in obsolete for key in node_keys(int(name.removeprefix(_NODE_USER_PREFIX)))))
        for node in wanted.values():
            _set_node(pipe, node)
        pipe.acl_setuser(_MARKER_USER, enabled=False, reset=True, hashed_passwords=[f"+{digest}"])
        pipe.execute()
    for name in outdated:
        _kill_connections(admin, name)
    return True


def grant_node(admin: Redis, node: NodeAccess) -> None:
    """Give a node access. The next `apply_nodes` checks the whole list."""
    with admin.pipeline(transaction=True) as pipe:
        pipe.script_load(Lock.LUA_RELEASE_SCRIPT)
        _set_node(pipe, node)
        pipe.acl_deluser(_MARKER_USER)
        pipe.execute()


def replace_node(admin: Redis, node: NodeAccess) -> None:
    """Restrict a node to its current password, and close other connections."""
    grant_node(admin, node)
    _kill_connections(admin, node_username(node.node_id))


def put_out_node(admin: Redis, node_id: int) -> None:
    username = node_username(node_id)
    with admin.pipeline(transaction=True) as pipe:
        pipe.acl_deluser(username, _MARKER_USER)
        pipe.unlink(*node_keys(node_id))
        pipe.execute()
    _kill_connections(admin, username)


def _passwords(admin: Redis) -> dict[str, set[str]]:
    lines = [line.decode() if isinstance(line, bytes) else line for line in admin.acl_list()]
    words = [line.split(" ") for line in lines]
    return {
        name: {rule[1:] for rule in rules if rule.startswith("#")}
        for _, name, *rules in words
        if is_node_username(name)
    }


def _kill_connections(admin: Redis, username: str) -> None:
    # Redis 6 returns an error for a missing user.
    with suppress(ResponseError):
        admin.client_kill_filter(user=username)


def _user_line(name: str, password: str, *rules: str) -> str:
    return " ".join(["user", name, "on", f"#{hashlib.sha256(password.encode()).hexdigest()}", *rules])


def _set_node(redis: Redis, node: NodeAccess) -> None:
    redis.acl_setuser(
        node_username(node.node_id),
        enabled=True,
        reset=True,
        hashed_passwords=[f"+{digest}" for digest in node.digests],
        keys=node_keys(node.node_id),
        commands=CELERY_COMMANDS,
    )


def _digest(nodes: Iterable[NodeAccess]) -> str:
    lines = sorted(f"{node.digests} {node_keys(node.node_id)} {CELERY_COMMANDS}" for node in nodes)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
