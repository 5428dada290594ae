from iotide_server.kit.errors import ErrorKind

BACKUP_PLACE = ErrorKind(422, "backup_place", field="place", shows="{place}").says("{place} {why}", "{remedy}")
BACKUP_UNREADABLE = ErrorKind(422, "backup_unreadable", field="backup", shows="{place}").says(
    "{place} {why}", "use another backup; this one may be incomplete or changed"
)
BACKUP_NEWER = ErrorKind(409, "backup_newer", field="format", shows="form").says(
    "the backup has format {form}, and this release reads up to {known}",
    "restore it with iotide-server {version} or newer",
)
VAULT_KEY_UNREADABLE = ErrorKind(422, "vault_key_unreadable", field="vault_key_file", shows="{file}").says(
    "{file} contains no vault key",
    "give the file with the vault key: 32 bytes in base64, several separated by commas, newest first",
)
VAULT_KEY_TAKEN = ErrorKind(409, "vault_key_taken", field="vault_key_file", shows="{directory}").says(
    "{directory} already has a different vault key", "restore into a new state directory"
)
POSTGRES_CLIENTS_MISSING = ErrorKind(409, "postgres_clients_missing", field="pg_dump", shows="found").says(
    "pg_dump and pg_restore {at_least} or newer are required; found: {found}",
    "install them: apt-get install postgresql-client-{at_least}, or pip install 'iotide-server[embedded]'",
)
POSTGRES_CLIENT_FAILED = ErrorKind(409, "postgres_client_failed", field="database", shows="program").says(
    "{program} {major} failed:\n{words}", "fix the reported problem, then try again"
)
DATABASE_NOT_EMPTY = ErrorKind(409, "database_not_empty", field="database", shows="tables").says(
    "the database is not empty: it has {tables} tables",
    "use an empty database, or replace this one with --replace",
)
DATABASE_IN_USE = ErrorKind(409, "database_in_use", field="database", shows="{names:names}").says(
    "the database is in use by {names:names}",
    "stop API, scheduler, worker and all other clients during the restore",
)
SCHEMA_NEWER = ErrorKind(409, "schema_newer", field="revision").says(
    "the backup has schema {revision} of iotide {version}, which this release does not know",
    "restore it with iotide-server {version} or newer",
)
VAULT_KEY_DIFFERS = ErrorKind(409, "vault_key_differs", field="vault_key", shows="").says(
    "the secrets of notification channels in the backup are encrypted with a different key",
    "give the key with --vault-key-file (with --state) or IOTIDE_VAULT_KEY; or restore with"
    " --without-vault-key and enter the secrets of the channels again",
)
COUNTS_DIFFER = ErrorKind(409, "counts_differ", field="counts", shows="{tables:names}").says(
    "row counts differ from the backup in {tables:names}; the restore was undone",
    "use another backup, and check the disk that held this one",
)
