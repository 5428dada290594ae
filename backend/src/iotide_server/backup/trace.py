"""The trace that a backup leaves in the audit: who has all data in a file, and how old the newest one is."""

from datetime import datetime
from pathlib import Path
from typing import Final

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.sessions import service as sessions
from iotide_server.backup.manifest import Manifest
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.schema import RevisionState, schema_state
from iotide_server.monitoring.repository import BACKUP_TAKEN

_IS_STANDBY: Final = text("SELECT pg_is_in_recovery()")


def note_backup(database_url: str, place: Path, manifest: Manifest, now: datetime) -> None:
    """Write a backup down that lies whole at `place`."""
    engine = open_engine(database_url, pool_size=1)
    try:
        with Database(engine).transaction() as session:
            _note(session, place, manifest, now)
    finally:
        engine.dispose()


def _note(session: Session, place: Path, manifest: Manifest, now: datetime) -> None:
    # A standby takes no row, and a database that is yet to be migrated none of this release.
    if session.scalars(_IS_STANDBY).one() or schema_state(session).standing is not RevisionState.CURRENT:
        return
    after = {"place": str(place), "made_at": manifest.made_at.isoformat(), "rows": sum(manifest.row_counts.values())}
    console = sessions.console_principal(session, now)
    audit.record(session, console, Action(BACKUP_TAKEN, "database", 0, None, after=after))
