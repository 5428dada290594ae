"""Opens a backup and verifies its digests."""

import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from iotide_server.backup.errors import BACKUP_NEWER, BACKUP_UNREADABLE
from iotide_server.backup.manifest import FORMAT, MANIFEST, Manifest, Stamp, fact_of

_OURS: Final = re.compile(r"manifest\.json|database\.dump|settings\.json|tls/(ca|server)\.(crt|key)")


@contextmanager
def opened(place: Path) -> Iterator[tuple[Manifest, Path]]:
    """Yield the manifest and the directory of the verified files. Raise BACKUP_UNREADABLE or BACKUP_NEWER."""
    # Unpacking a tar file into TMPDIR takes as much space again.
    if place.is_dir():
        yield _checked(place, place), place
        return
    with tempfile.TemporaryDirectory(prefix="iotide-restore-") as directory:
        try:
            with tarfile.open(place, mode="r:") as archive:
                _unpack(archive, Path(directory))
        except (OSError, tarfile.TarError) as error:
            raise BACKUP_UNREADABLE(place=place, why=f"is not a readable backup: {error}") from error
        yield _checked(Path(directory), place), Path(directory)


def _unpack(archive: tarfile.TarFile, directory: Path) -> None:
    """`extractall(filter=)` is missing in Debian 12's Python 3.11.2."""
    for member in archive:
        content = archive.extractfile(member) if member.isreg() and _OURS.fullmatch(member.name) else None
        if content is not None:
            file = directory / member.name
            file.parent.mkdir(mode=0o700, exist_ok=True)
            with content, file.open("xb") as unpacked:
                shutil.copyfileobj(content, unpacked)


def _checked(directory: Path, place: Path) -> Manifest:
    manifest = _manifest(directory, place)
    for name, expected in manifest.files.items():
        file = directory / name
        if not file.is_file() or file.is_symlink() or fact_of(file) != expected:
            raise BACKUP_UNREADABLE(place=place, why=f"is damaged: {name} is missing or was changed")
    return manifest


def _manifest(directory: Path, place: Path) -> Manifest:
    try:
        written = (directory / MANIFEST).read_bytes()
        # A newer format only guarantees these fields.
        stamp = Stamp.model_validate_json(written)
        if stamp.format > FORMAT:
            raise BACKUP_NEWER(form=stamp.format, known=FORMAT, version=stamp.iotide_version)
        return Manifest.model_validate_json(written)
    except (OSError, ValidationError) as error:
        raise BACKUP_UNREADABLE(place=place, why=f"has no readable {MANIFEST}") from error
