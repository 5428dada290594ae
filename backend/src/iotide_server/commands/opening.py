import contextlib
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from pydantic import ValidationError
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from iotide_server.bundled import StartError
from iotide_server.bundled.state import default_state_directory, read_environment
from iotide_server.kit.db import Database, brief_engine
from iotide_server.kit.migrations import require_schema
from iotide_server.settings import Settings
from iotide_wire.base import problem_in


def settings_of_environment() -> Settings:
    """Read the environment and the files in IOTIDE_SECRETS. Raise StartError."""
    try:
        return Settings(_secrets_dir=os.environ.get("IOTIDE_SECRETS"))
    except ValidationError as error:
        wrong = "; ".join(
            ": ".join([*(f"IOTIDE_{name}".upper() for name in detail["loc"][:1]), problem_in(detail)])
            for detail in error.errors()
        )
        raise StartError(
            f"The settings are incomplete or invalid: {wrong}.", remedy="Correct these environment variables."
        ) from error


def settings_of(state: Path | None) -> Settings:
    """Return the settings of the environment, or of `up` on the state directory. Raise StartError."""
    if state is None:
        with contextlib.suppress(StartError):
            return settings_of_environment()
    os.environ.update(read_environment(state or default_state_directory()))
    return settings_of_environment()


def require_served_schema(settings: Settings) -> None:
    """Raise SCHEMA_BEHIND or SCHEMA_TOO_NEW, but not if the database is unavailable, for which the service waits."""
    with brief_engine(settings.database_url.get_secret_value()) as engine, contextlib.suppress(OperationalError):
        require_schema(engine)


@contextlib.contextmanager
def open_database(settings: Settings, *, pool_size: int = 1) -> Iterator[Database]:
    import_module("iotide_server.tables")  # a command writes only if it has loaded the tables that its own refer to
    with brief_engine(settings.database_url.get_secret_value(), pool_size=pool_size) as engine:
        require_schema(engine)
        yield Database(engine)


@contextlib.contextmanager
def transaction(settings: Settings) -> Iterator[Session]:
    with open_database(settings) as database, database.transaction() as session:
        yield session


@contextlib.contextmanager
def transaction_of(state: Path | None) -> Iterator[Session]:
    with transaction(settings_of(state)) as session:
        yield session
