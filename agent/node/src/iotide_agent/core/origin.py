"""Distinguish a copy of a state directory from the original by where the original was."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class Origin:
    """Records where a state directory was when its agent was accepted; a copy of it is elsewhere."""

    path: str
    device: int
    inode: int

    @classmethod
    def of(cls, directory: Path) -> Self:
        """Return where a directory is now."""
        found = directory.stat()
        return cls(str(directory.resolve()), found.st_dev, found.st_ino)

    def is_copied_to(self, directory: Path) -> bool:
        """Return whether the original is still there, as another directory."""
        return not self.is_at(directory) and self.is_at(Path(self.path))

    def is_at(self, directory: Path) -> bool:
        """Return whether this is the directory; the same path may have another device after each mount."""
        try:
            found = self.of(directory)
        except OSError:
            return False
        return found.inode == self.inode and (found.path == self.path or found.device == self.device)
