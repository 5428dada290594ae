"""Private services of `up` during a restore."""

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
    postgres = prepare_postgres(state)
    part = postgres.part()
    log = state.directory("log") / "restore-postgres.log"
    with log.open("ab") as said:
        process = subprocess.Popen(part.launch(), stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + part.start_deadline_seconds
        while not part.is_ready():
            if process.poll() is not None or time.monotonic() > deadline:
                raise StartError("PostgreSQL did not start.", remedy=f"See the last lines of {log}.")
            time.sleep(_POLL_SECONDS)
        postgres.create_owner()
        yield postgres
    finally:
        process.send_signal(part.stop_signal)
        # The checkpoint of all loaded data may take long.
        process.wait()


def vault_key_of(state: StateDirectory) -> str | None:
    file = state.directory("secrets") / _VAULT
    return file.read_text() if file.exists() else None


def put_vault_key_back(state: StateDirectory, key: str) -> None:
    """Raise VAULT_KEY_TAKEN if a different key may have encrypted secrets."""
    known = vault_key_of(state)
    if known is not None and known != key:
        raise VAULT_KEY_TAKEN(directory=state.root)
    state.write_private(state.directory("secrets") / _VAULT, key)


def put_tls_back(state: StateDirectory, backup: Path) -> bool:
    if not (backup / "tls/ca.key").is_file():
        return False
    for name in TLS_FILES:
        if (backup / "tls" / name).is_file():
            state.write_private(state.directory("tls") / name, (backup / "tls" / name).read_bytes())
    return True
