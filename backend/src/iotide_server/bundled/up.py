"""The `up` command."""

import asyncio
import json
import os
import socket
import ssl
import sys
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, suppress
from http.client import HTTPException
from pathlib import Path
from types import MappingProxyType

from iotide_server.bundled.options import ANY_ADDRESS, LOOPBACK, UpOptions, bracketed
from iotide_server.bundled.ports import check_port
from iotide_server.bundled.postgres import prepare_postgres
from iotide_server.bundled.privileges import become, choose_account, code_locations
from iotide_server.bundled.readiness import ReadinessSocket, ServiceManager
from iotide_server.bundled.redis import prepare_redis
from iotide_server.bundled.relay import relay_command
from iotide_server.bundled.state import ENVIRONMENT_FILE, StateDirectory, hold, prepare_state_directory
from iotide_server.bundled.supervise import Part, StoppedError, Supervisor
from iotide_server.bundled.tls import Certificates, fingerprint, prepare_certificates
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import brief_engine
from iotide_server.kit.logs import LogFormat
from iotide_server.kit.migrations import migrate

_READY_SECONDS = 2.0
_PREFIX = "IOTIDE_"


def run_services(options: UpOptions, say: Callable[[str], None], *, welcome: Callable[[str, str], None]) -> None:
    # `say` prints a line. `welcome` receives the URLs of database and API after a start by a user.
    manager = ServiceManager.take()

    def say_and_show(line: str) -> None:
        say(line)
        manager.show(line)

    account = choose_account(options.state)
    state = prepare_state_directory(options.state, account)
    os.umask(0o077)
    become(account, code=code_locations(), state=state.root)
    with hold(state) as lock_descriptor:
        asyncio.run(_Services(options, state, lock_descriptor, say_and_show).run(manager, welcome))


class _Services:
    def __init__(
        self, options: UpOptions, state: StateDirectory, lock_descriptor: int, say: Callable[[str], None]
    ) -> None:
        self._options = options
        self._state = state
        self._say = say
        self._supervisor = Supervisor(
            logs=state.directory("log"),
            lock_descriptor=lock_descriptor,
            say=say,
            log_as_json=options.log_format is LogFormat.JSON,
        )
        self._settings = {"LOG_FORMAT": options.log_format.value}
        self._certificates: Certificates | None = None

    async def run(self, manager: ServiceManager, welcome: Callable[[str, str], None]) -> None:
        self._supervisor.stop_on_signals()
        try:
            with suppress(StoppedError):
                for host, port, option in self._options.listening:
                    check_port(host, port, option=option)
                self._prepare_tls()
                await self._start_postgres()
                await self._start_redis()
                await self._start_server()
                manager.announce_ready()
                self._say(f"iotide is ready: {self._settings['PUBLIC_URL']} (logs in {self._state.root / 'log'})")
                if self._certificates:
                    known_by = fingerprint(self._certificates.ca.read_text())
                    self._say(f"fingerprint of its authority, for `iotide login`: {known_by}")
                if manager.address is None:  # otherwise the link would be in the journal
                    await asyncio.to_thread(welcome, self._settings["DATABASE_URL"], self._settings["PUBLIC_URL"])
                await self._supervisor.wait()
            manager.announce_stop()
            self._say("stopping")
        finally:
            await self._supervisor.stop()

    def _prepare_tls(self) -> None:
        if self._options.listen is None:
            return
        names = [name for name in (self._options.listen, self._options.name) if name not in ANY_ADDRESS]
        self._certificates = prepare_certificates(self._state, names=names, now=system_clock())
        self._settings["CA_CERTIFICATE"] = str(self._certificates.ca)

    async def _start_postgres(self) -> None:
        if self._options.database_url:
            self._settings["DATABASE_URL"] = self._options.database_url
            return
        # Ignore the environment's libpq variables, which are for other servers.
        for name in [name for name in os.environ if name.startswith("PG")]:
            del os.environ[name]
        postgres = await asyncio.to_thread(prepare_postgres, self._state)
        await self._start(postgres.part())
        await asyncio.to_thread(postgres.create_owner)
        self._settings["DATABASE_URL"] = postgres.url

    async def _start_redis(self) -> None:
        if self._options.redis_url:
            self._settings["REDIS_URL"] = self._options.redis_url
            return
        redis = await asyncio.to_thread(prepare_redis, self._state, port=self._options.redis_port)
        await self._start(redis.part())
        self._settings |= {"REDIS_URL": redis.url, "REDIS_ADMIN_URL": redis.admin_url}
        if self._options.listen and self._certificates:
            host, port = self._options.listen, self._options.redis_tls_port
            command = relay_command(self._certificates, host=host, port=port, redis_port=redis.port)
            await self._start(self._part("relay", command, is_ready=lambda: _accepts(_dialled(host), port)))
            self._settings["AGENT_BROKER_URL"] = f"rediss://{bracketed(self._options.name)}:{port}/0"

    async def _start_server(self) -> None:
        self._settings["VAULT_KEY"] = os.environ.get("IOTIDE_VAULT_KEY", self._state.secret("vault"))
        # Set by administrators with a proxy in front.
        self._settings["PUBLIC_URL"] = os.environ.get("IOTIDE_PUBLIC_URL", self._options.public_url)
        self._settings |= _agent_files(self._state)
        # Commands such as `doctor` need the settings that administrators gave to `up`, too.
        given = {name: value for name, value in os.environ.items() if name.startswith(_PREFIX)}
        self._state.write_private(self._state.root / ENVIRONMENT_FILE, json.dumps(given | self._environment()))
        self._say("migrating the database")
        await asyncio.to_thread(_migrate, self._settings["DATABASE_URL"])
        api = ["api", "--host", self._options.host, "--port", str(self._options.port)]
        if self._certificates:
            api += ["--tls-chain", str(self._certificates.chain), "--tls-key", str(self._certificates.key)]
        with ExitStack() as stack:
            parts = [self._part("api", _command(*api), is_ready=self._api_answers)]
            for name in ("scheduler", "worker"):
                path = self._state.directory("run") / f"{name}.ready"
                ready = stack.enter_context(closing(ReadinessSocket(path)))
                parts.append(self._part(name, _command(name), is_ready=ready.is_ready, more=ready.environment))
            await self._start(*parts)

    async def _start(self, *parts: Part) -> None:
        self._say(f"starting {', '.join(part.name for part in parts)}")
        await self._supervisor.start(*parts)

    def _part(
        self,
        name: str,
        command: tuple[str, ...],
        *,
        is_ready: Callable[[], bool],
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> Part:
        return Part(
            name=name,
            command=command,
            account=self._state.account,
            is_ready=is_ready,
            environment={"PYTHONUNBUFFERED": "1", "HOME": str(self._state.root), **self._environment(), **more},
        )

    def _environment(self) -> dict[str, str]:
        return {f"{_PREFIX}{name}": value for name, value in self._settings.items()}

    def _api_answers(self) -> bool:
        trust = ssl.create_default_context(cafile=self._certificates.ca) if self._certificates else None
        url = f"{'https' if trust else 'http'}://{bracketed(_dialled(self._options.host))}:{self._options.port}"
        # Bypass the environment's proxy.
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trust)
        )
        try:
            with opener.open(f"{url}/api/v1/ready", timeout=_READY_SECONDS):
                return True
        except (OSError, HTTPException):
            return False


def _migrate(database_url: str) -> None:
    with brief_engine(database_url) as engine:
        migrate(engine)


def _agent_files(state: StateDirectory) -> dict[str, str]:
    """Return the setting of the directory of agent files; without one, the server has those of its package."""
    directory = Path(os.environ.get("IOTIDE_AGENT_FILES", state.root / "agent")).absolute()
    return {"AGENT_FILES": str(directory)} if directory.is_dir() else {}


def _command(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-P", "-m", "iotide_server.cli", *arguments)


def _accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=_READY_SECONDS).close()
    except OSError:
        return False
    return True


def _dialled(host: str) -> str:
    return {"0.0.0.0": LOOPBACK, "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
