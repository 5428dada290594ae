"""How the database's schema stands to this release: what it has, what the code was written for."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.kit.migrations import migrations_directory


class RevisionState(StrEnum):
    """AHEAD: a revision that this release does not know, made by a newer one."""

    CURRENT = "current"
    BEHIND = "behind"
    AHEAD = "ahead"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class SchemaState:
    """Revisions as Alembic names them; `found` is None in a database that was never migrated."""

    found: str | None
    expected: str
    standing: RevisionState

    @property
    def words(self) -> str:
        """For a person."""
        match self.standing:
            case RevisionState.CURRENT:
                return f"the schema is at revision {self.found}"
            case RevisionState.BEHIND:
                return f"the schema is at revision {self.found}, and this release was written for {self.expected}"
            case RevisionState.AHEAD:
                return f"the schema is at revision {self.found}, which a newer release made"
            case RevisionState.EMPTY:
                return "the database has no schema yet"


@cache
def known_revisions() -> tuple[str, ...]:
    """All that this release has scripts for, the newest first."""
    config = Config()
    config.set_main_option("script_location", str(migrations_directory()))
    return tuple(script.revision for script in ScriptDirectory.from_config(config).walk_revisions())


def schema_state(session: Session) -> SchemaState:
    """Compare the revision in the database with those of this release."""
    is_there = session.scalar(text("SELECT to_regclass('alembic_version') IS NOT NULL"))
    found = session.scalar(text("SELECT version_num FROM alembic_version")) if is_there else None
    return judge(found, known_revisions())


def judge(found: str | None, known: tuple[str, ...]) -> SchemaState:
    """How a database at the revision `found` stands to a release that knows these, the newest first."""
    if found is None:
        standing = RevisionState.EMPTY
    elif found == known[0]:
        standing = RevisionState.CURRENT
    else:
        # Revisions are numbers of four digits. Those before the oldest known one were squashed into it.
        is_behind = found in known or found < known[-1]
        standing = RevisionState.BEHIND if is_behind else RevisionState.AHEAD
    return SchemaState(found, known[0], standing)
