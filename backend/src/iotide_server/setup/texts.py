"""Contents of the files that setup writes; pure, except for reading the unit of this package."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Final

from iotide_server.bundled.ports import API_PORT, MOST_PORT
from iotide_wire.setup.changes import SetupError

UNIT: Final = "iotide.service"
SETTINGS: Final = Path("/etc/iotide/server.env")
STATE: Final = Path("/var/lib/iotide")
_PROGRAM_OF_UNIT: Final = "/opt/iotide/bin/iotide-server"
_COMMENT: Final = ("#", ";")
_DATABASES: Final = ("postgresql://", "postgres://")
_HOST: Final = re.compile(r"[A-Za-z0-9.:_-]+")


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Options of setup that it keeps in the settings file; None: the default of `iotide-server up`."""

    listen: str | None
    public_name: str | None
    port: int | None
    database_url: str | None

    @property
    def given(self) -> Mapping[str, str]:
        """Return the given options of setup."""
        given = {"--listen": self.listen, "--public-name": self.public_name, "--port": self.port,
                 "--database-url": self.database_url}  # fmt: skip
        return {option: str(value) for option, value in given.items() if value is not None}


def variable_of(option: str) -> str:
    """Return the variable that `up` reads, such as IOTIDE_PUBLIC_NAME of --public-name."""
    return f"IOTIDE_{option.removeprefix('--').replace('-', '_').upper()}"


def check_options(options: ServerOptions) -> None:
    """Raise SetupError for a value that no certificate and no settings file can have."""
    for option, value in options.given.items():
        if option == "--database-url":
            if not value.isprintable() or not value.startswith(_DATABASES):
                raise SetupError(f"{option} {value!r}: use a URL such as postgresql://iotide:PASSWORD@localhost/iotide")
        elif not _HOST.fullmatch(value):
            raise SetupError(f"{option} {value!r}: use an address or a host name, such as bench.example.org")


def server_env(options: ServerOptions) -> str:
    """Return the settings file, in the syntax of systemd and of shells."""
    values = {"--port": str(API_PORT), **options.given}
    lines = [f"{variable_of(option)}={shlex.quote(values[option])}" for option in sorted(values)]
    return "\n".join(
        [
            "# Settings of the server, written by `iotide-server setup`, which never changes them again.",
            "# After a change: systemctl restart iotide",
            *lines,
            "",
        ]
    )


def variables_in(settings: str) -> Mapping[str, str]:
    """Return the variables of a settings file; empty ones are not set. Raise SetupError."""
    words = []
    for number, line in enumerate(settings.splitlines(), start=1):
        if line.lstrip().startswith(_COMMENT):
            continue
        try:
            words += shlex.split(line)
        except ValueError as error:
            raise SetupError(f"{SETTINGS}, line {number}: {error}; correct it, then run setup again") from error
    pairs = (word.partition("=") for word in words)
    return {name: value for name, _, value in pairs if value}


def port_in(variables: Mapping[str, str]) -> int:
    """Return the port of the API. Raise SetupError."""
    value = variables.get("IOTIDE_PORT", str(API_PORT))
    if not value.isdecimal() or not 0 < int(value) <= MOST_PORT:
        raise SetupError(f"{SETTINGS}: IOTIDE_PORT={value} is not a port from 1 to {MOST_PORT}; correct it there")
    return int(value)


def unit(program: Path) -> str:
    """Return the systemd unit that starts this program."""
    shipped = (files("iotide_server.setup") / UNIT).read_text(encoding="utf-8")
    # A new version changes this file, so that setup restarts the server.
    head = f"# Unit of iotide-server {version('iotide-server')}\n"
    return head + shipped.replace(_PROGRAM_OF_UNIT, str(program))
