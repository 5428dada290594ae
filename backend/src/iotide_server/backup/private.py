"""The private services of `up` as a restore needs them: their PostgreSQL alone, and what lies beside it."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from iotide_server.backup.errors import VAULT_KEY_TAKEN
from iotide_server.backup.manifest import TLS_FILES
from iotide_server.bundled import StartError
from iotide_server.bundled.postgres import PrivatePostgres, prepare_postgres
from iotide_server.bundled.state import StateDirectory

_POLL_SECONDS: Final = 0.05
_VAULT: Final = "vault"


@contextmanager
def running_postgres(state: StateDirectory) -> Iterator[PrivatePostgres]:
    """Run the private PostgreSQL of a held state directory for the time of the block; raise StartError."""
    postgres = prepare_postgres(state)
    part = postgres.part()
    log = state.directory("log") / "restore-postgres.log"
    with log.open("ab") as said:
        process = subprocess.Popen(part.launch(), stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + part.start_deadline_seconds
        while not part.is_ready():
            if process.poll() is not None or time.monotonic() > deadline:
                raise StartError("PostgreSQL did not start.", remedy=f"Its last lines in {log} say why.")
            time.sleep(_POLL_SECONDS)
        postgres.create_owner()
        yield postgres
    finally:
        process.send_signal(part.stop_signal)
        # However long the disk takes for the checkpoint of all that was loaded.
        process.wait()


def vault_key_of(state: StateDirectory) -> str | None:
    """The vault key of the services there; None where none was made yet."""
    file = state.directory("secrets") / _VAULT
    return file.read_text() if file.exists() else None


def put_vault_key_back(state: StateDirectory, key: str) -> None:
    """Let the services use this key; raise VAULT_KEY_TAKEN where another one may have sealed more."""
    known = vault_key_of(state)
    if known is not None and known != key:
        raise VAULT_KEY_TAKEN(directory=state.root)
    state.write_private(state.directory("secrets") / _VAULT, key)


def put_tls_back(state: StateDirectory, backup: Path) -> bool:
    """Let the services show the certificates that their agents trust; False when the backup has none."""
    if not (backup / "tls/ca.key").is_file():
        return False
    for name in TLS_FILES:
        if (backup / "tls" / name).is_file():
            state.write_private(state.directory("tls") / name, (backup / "tls" / name).read_bytes())
    return True
