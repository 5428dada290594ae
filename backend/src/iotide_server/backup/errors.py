"""What can go wrong with a backup and with its return."""

from collections.abc import Sequence
from pathlib import Path

from iotide_server.kit.errors import ConflictError, InvalidInputError


class BackupPlaceError(InvalidInputError):
    """A backup cannot be written where it shall be."""

    code = "backup_place"

    def __init__(self, place: Path, why: str, *, remedy: str) -> None:
        super().__init__(f"{place} {why}", field="place", value=str(place), remedy=remedy)


class BackupUnreadableError(InvalidInputError):
    """What was named is no backup, or no longer what was written."""

    code = "backup_unreadable"
    usual_remedy = "take another backup; this one may have been cut short or changed"

    def __init__(self, place: Path, why: str) -> None:
        super().__init__(f"{place} {why}", field="backup", value=str(place))


class BackupNewerError(ConflictError):
    """A backup was written in a form that this release does not know."""

    code = "backup_newer"

    def __init__(self, form: int, known: int, version: str) -> None:
        super().__init__(
            f"the backup has format {form}, and this release reads up to {known}",
            field="format",
            value=form,
            remedy=f"restore it with iotide-server {version} or newer",
        )


class VaultKeyUnreadableError(InvalidInputError):
    """A file that is said to hold the vault key holds none; what it holds is shown to nobody."""

    code = "vault_key_unreadable"

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"{file} holds no vault key",
            field="vault_key_file",
            value=str(file),
            remedy="give the file with the key that was kept apart: 32 bytes in base64, of several the newest first",
        )


class VaultKeyTakenError(ConflictError):
    """The services on a state directory have a vault key already, with which more may have been sealed."""

    code = "vault_key_taken"

    def __init__(self, directory: Path) -> None:
        super().__init__(
            f"{directory} has another vault key already",
            field="vault_key_file",
            value=str(directory),
            remedy="restore into a new state directory",
        )


class ClientsMissingError(ConflictError):
    """pg_dump or pg_restore is missing, or older than what it is to read."""

    code = "postgres_clients_missing"

    def __init__(self, at_least: int, majors: Sequence[int]) -> None:
        have = ", ".join(map(str, majors)) or "none"
        super().__init__(
            f"pg_dump and pg_restore {at_least} or newer are needed; on this machine is: {have}",
            field="pg_dump",
            value=have,
            remedy=f"install them: apt-get install postgresql-client-{at_least},"
            " or pip install 'iotide-server[embedded]'",
        )


class ClientFailedError(ConflictError):
    """pg_dump or pg_restore gave up; the message holds its last words."""

    code = "postgres_client_failed"

    def __init__(self, program: str, major: int, words: str) -> None:
        super().__init__(
            f"{program} {major} failed:\n{words}",
            field="database",
            value=program,
            remedy="mend what it names, and try again",
        )


class DatabaseNotEmptyError(ConflictError):
    """A restore would overwrite what is there."""

    code = "database_not_empty"

    def __init__(self, tables: int) -> None:
        super().__init__(
            f"the database is not empty: it has {tables} tables",
            field="database",
            value=tables,
            remedy="name an empty database, or have this one replaced with --replace",
        )


class DatabaseInUseError(ConflictError):
    """Somebody is connected to the database that is to be restored."""

    code = "database_in_use"

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"the database is in use by {', '.join(names)}",
            field="database",
            value=", ".join(names),
            remedy="stop API, scheduler and worker, and whoever else is connected, for as long as it is restored",
        )


class SchemaNewerError(ConflictError):
    """A backup was made by a release that this one does not know."""

    code = "schema_newer"

    def __init__(self, revision: str, version: str) -> None:
        super().__init__(
            f"the backup has schema {revision} of iotide {version}, which this release does not know",
            field="revision",
            value=revision,
            remedy=f"restore it with iotide-server {version} or newer",
        )


class VaultKeyDiffersError(ConflictError):
    """The secrets of channels were sealed with a key that is not at hand."""

    code = "vault_key_differs"

    def __init__(self) -> None:
        super().__init__(
            "the backup has secrets of notification channels, and they were sealed with another key",
            field="vault_key",
            remedy="give the key that is kept apart: --vault-key-file with --state, else IOTIDE_VAULT_KEY; or go"
            " without with --without-vault-key, and enter the secrets of the channels anew",
        )


class CountsDifferError(ConflictError):
    """After a restore a table has other rows than it had at the backup."""

    code = "counts_differ"

    def __init__(self, tables: Sequence[str]) -> None:
        super().__init__(
            f"rows of {', '.join(tables)} are not as many as at the backup; nothing was kept of the restore",
            field="counts",
            value=", ".join(tables),
            remedy="take another backup, and have a look at the disk that this one lay on",
        )
