"""Files that are either the old text or the new one, whatever dies in between; all of the agent's state is kept so."""

import json
import os
from pathlib import Path
from typing import Any


def replace_file(path: Path, text: str, *, durable: bool) -> None:
    """Puts `text` at `path` by an atomic rename, for the agent's own user alone.

    Args:
        durable: also survive a power cut, at the price of two fsyncs.
    """
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123 - of a descriptor
        file.write(text)
        file.flush()
        if durable:
            os.fsync(descriptor)
    new.replace(path)
    if durable:
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Makes the names in a directory survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_json(path: Path) -> Any | None:  # noqa: ANN401 - JSON is any value; its reader knows the type
    """The JSON value at `path`, or None where no such file exists."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
