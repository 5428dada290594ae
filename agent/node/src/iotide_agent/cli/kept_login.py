"""Server, token and authority that `iotide login` keeps for the other commands, readable for this user only."""

import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from iotide_agent.runner.files import replace_file


@dataclass(frozen=True, slots=True)
class Login:
    """`ca_pem` is the only trusted authority; None for those of the system."""

    url: str
    token: str
    ca_pem: str | None


_FORM = TypeAdapter(Login)


def login_file() -> Path:
    config = os.environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else Path.home() / ".config") / "iotide/login.json"


def kept_login() -> Login | None:
    """Return None if there is no login, or if the file cannot be used."""
    try:
        return _FORM.validate_json(login_file().read_bytes())
    except (OSError, ValidationError):
        return None


def keep(login: Login) -> Path:
    """Store the login and return its file; raise OSError."""
    file = login_file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(file, _FORM.dump_json(login, indent=1).decode(), durable=True)
    return file
