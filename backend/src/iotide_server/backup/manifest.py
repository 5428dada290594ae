"""What a backup says of itself: which release made it, of which data, and the digest of each of its files."""

import hashlib
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from iotide_wire.units import MIB

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
DATABASE: Final = "database.dump"
SETTINGS: Final = "settings.json"
TLS_FILES: Final = ("ca.crt", "ca.key", "server.crt", "server.key")
"""Of the directory that `up` keeps for other hosts; with its CA go its agents' trust and their join tokens."""

_PIECE_BYTES: Final = MIB
_FINGERPRINT: Final = b"iotide vault key\0"

FileName = Annotated[str, StringConstraints(pattern=r"^(database\.dump|settings\.json|tls/(ca|server)\.(crt|key))$")]


class FileFact(BaseModel):
    """A file of the backup."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size_bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Stamp(BaseModel):
    """What every form of a manifest has, those to come included."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Annotated[int, Field(ge=1)]
    iotide_version: str


class Manifest(BaseModel):
    """All that can be told of a backup without opening its dump."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Annotated[int, Field(ge=1)]
    made_at: datetime  # of the snapshot that the dump shows
    # iotide_version, schema_revision: of whoever made it, and of the database
    iotide_version: str
    schema_revision: str
    # postgres_major, client_major: of the server, and of the pg_dump that wrote the dump
    postgres_major: int
    client_major: int
    row_counts: dict[str, int]  # by table, in the same snapshot
    vault_fingerprints: list[str]  # of the keys that were in use; the keys themselves are kept apart
    has_sealed_secrets: bool  # whether anything was sealed with them
    files: dict[FileName, FileFact]


def fact_of(file: Path) -> FileFact:
    """Size and digest of a file, read piece by piece."""
    digest, size_bytes = hashlib.sha256(), 0
    with file.open("rb") as content:
        while piece := content.read(_PIECE_BYTES):
            digest.update(piece)
            size_bytes += len(piece)
    return FileFact(size_bytes=size_bytes, sha256=digest.hexdigest())


def vault_fingerprints(keys: str | None) -> list[str]:
    """Return by what the vault's keys, which are 32 random bytes, are told apart; it says nothing else of them."""
    if keys is None:
        return []
    bare = (key.strip().rstrip("=").replace("+", "-").replace("/", "_") for key in keys.split(","))
    return [hashlib.sha256(_FINGERPRINT + key.encode()).hexdigest() for key in bare]
