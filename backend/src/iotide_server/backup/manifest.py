"""Manifest of a backup."""

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
"""Files of `up`'s certificate directory, with the CA that agents and join tokens trust."""

_PIECE_BYTES: Final = MIB
_FINGERPRINT: Final = b"iotide vault key\0"

FileName = Annotated[str, StringConstraints(pattern=r"^(database\.dump|settings\.json|tls/(ca|server)\.(crt|key))$")]


class FileFact(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    size_bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Stamp(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Annotated[int, Field(ge=1)]
    iotide_version: str


class Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Annotated[int, Field(ge=1)]
    made_at: datetime
    iotide_version: str
    schema_revision: str
    postgres_major: int
    client_major: int
    row_counts: dict[str, int]
    vault_fingerprints: list[str]  # the keys are stored separately
    has_sealed_secrets: bool
    files: dict[FileName, FileFact]


def fact_of(file: Path) -> FileFact:
    digest, size_bytes = hashlib.sha256(), 0
    with file.open("rb") as content:
        while piece := content.read(_PIECE_BYTES):
            digest.update(piece)
            size_bytes += len(piece)
    return FileFact(size_bytes=size_bytes, sha256=digest.hexdigest())


def vault_fingerprints(keys: str | None) -> list[str]:
    """Return digests that identify the keys without revealing them."""
    if keys is None:
        return []
    bare = (key.strip().rstrip("=").replace("+", "-").replace("/", "_") for key in keys.split(","))
    return [hashlib.sha256(_FINGERPRINT + key.encode()).hexdigest() for key in bare]
