"""What can go wrong with a backup and with its return."""

from iotide_server.kit.errors import ConflictError, InvalidInputError


class BackupPlaceError(InvalidInputError):
    """A backup cannot be written where it shall be."""

    code = "backup_place"


class BackupUnreadableError(InvalidInputError):
    """What was named is no backup, or no longer what was written."""

    code = "backup_unreadable"


class ClientsMissingError(ConflictError):
    """pg_dump or pg_restore is missing, or older than what it is to read."""

    code = "postgres_clients_missing"


class ClientFailedError(ConflictError):
    """pg_dump or pg_restore gave up; the message holds its last words."""

    code = "postgres_client_failed"


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

    def __init__(self, names: list[str]) -> None:
        super().__init__(
            f"the database is in use by {', '.join(names)}",
            field="database",
            value=names,
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

    def __init__(self, differing: list[str]) -> None:
        super().__init__(
            f"rows of {', '.join(differing)} are not as many as at the backup; nothing was kept of the restore",
            field="counts",
            value=differing,
            remedy="take another backup, and have a look at the disk that this one lay on",
        )
