"""A backup as it lies on the disk, a directory or one file: opened, and believed once every digest was checked."""

import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from iotide_server.keeping.errors import BackupUnreadableError
from iotide_server.keeping.manifest import FORMAT, MANIFEST, Manifest, fact_of

_REMEDY = "take another backup; this one may have been cut short or changed"


@contextmanager
def opened(place: Path) -> Iterator[tuple[Manifest, Path]]:
    """The manifest, and the directory that holds the files it names, each with the size and digest that it names.

    One file is unpacked into a private temporary directory (TMPDIR), which needs as much room as it takes itself.

    Raises:
        BackupUnreadableError: it is no backup, or not as it was written.
    """
    if place.is_dir():
        yield _checked(place), place
        return
    with tempfile.TemporaryDirectory(prefix="iotide-restore-") as directory:
        try:
            with tarfile.open(place, mode="r:") as archive:
                archive.extractall(directory, filter="data")
        except (OSError, tarfile.TarError) as error:
            raise BackupUnreadableError(
                f"{place} cannot be read as a backup: {error}", field="backup", value=str(place), remedy=_REMEDY
            ) from error
        yield _checked(Path(directory)), Path(directory)


def _checked(directory: Path) -> Manifest:
    try:
        manifest = Manifest.model_validate_json((directory / MANIFEST).read_bytes())
    except (OSError, ValidationError) as error:
        raise BackupUnreadableError(
            f"{directory} has no {MANIFEST} that can be read", field="backup", value=str(directory), remedy=_REMEDY
        ) from error
    if manifest.format > FORMAT:
        raise BackupUnreadableError(
            f"the backup has format {manifest.format}, and this release reads up to {FORMAT}",
            field="format",
            value=manifest.format,
            remedy=f"restore it with iotide-server {manifest.iotide_version} or newer",
        )
    for name, expected in manifest.files.items():
        file = directory / name
        if not file.is_file() or file.is_symlink() or fact_of(file) != expected:
            raise BackupUnreadableError(
                f"{name} is missing or not what was written", field="backup", value=name, remedy=_REMEDY
            )
    return manifest
