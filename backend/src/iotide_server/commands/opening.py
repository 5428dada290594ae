"""What commands open: the settings of an installation, and its database at a schema that this release can serve."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from iotide_server.bundled import StartError
from iotide_server.bundled.state import default_state_directory
from iotide_server.bundled.up import read_environment
from iotide_server.kit.db import Database, brief_engine
from iotide_server.kit.migrations import require_schema
from iotide_server.settings import Settings

StateOption = Annotated[
    Path | None,
    typer.Option(
        "--state",
        envvar="IOTIDE_STATE",
        help="Directory of the private services; by default ~/.local/share/iotide, for root /var/lib/iotide.",
    ),
]


def settings_of_environment() -> Settings:
    """Read environment and files in IOTIDE_SECRETS, as `iotide_database_url`; raise StartError with what is wrong."""
    try:
        return Settings(_secrets_dir=os.environ.get("IOTIDE_SECRETS"))
    except ValidationError as error:
        wrong = "; ".join(
            ": ".join([*(f"IOTIDE_{name}".upper() for name in detail["loc"][:1]), detail["msg"]])
            for detail in error.errors()
        )
        raise StartError(
            f"The settings are not complete: {wrong}.", remedy="Set these environment variables."
        ) from error


def settings_of(state: Path | None) -> Settings:
    """Return the settings of the services of `up` on the state directory, else of the environment; raise StartError."""
    if state is None:
        with contextlib.suppress(StartError):
            return settings_of_environment()
    os.environ.update(read_environment(state or default_state_directory()))
    return settings_of_environment()


def require_served_schema(settings: Settings) -> None:
    """Raise SCHEMA_BEHIND or SCHEMA_TOO_NEW; a database that is away now is waited for later."""
    with brief_engine(settings.database_url.get_secret_value()) as engine, contextlib.suppress(OperationalError):
        require_schema(engine)


@contextlib.contextmanager
def open_database(settings: Settings, *, pool_size: int = 1) -> Iterator[Database]:
    """Open the database for the time of the block; raise SCHEMA_BEHIND or SCHEMA_TOO_NEW."""
    with brief_engine(settings.database_url.get_secret_value(), pool_size=pool_size) as engine:
        require_schema(engine)
        yield Database(engine)


@contextlib.contextmanager
def transaction(settings: Settings) -> Iterator[Session]:
    """Open one transaction, committed where the block ends well; raise what `open_database` raises."""
    with open_database(settings) as database, database.transaction() as session:
        yield session


@contextlib.contextmanager
def transaction_of(state: Path | None) -> Iterator[Session]:
    """One transaction in the database of the services that `settings_of` finds."""
    with transaction(settings_of(state)) as session:
        yield session
