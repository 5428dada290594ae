"""Detection of a copied state directory, by the original's location."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class Origin:
    """Location of a state directory when its agent was accepted; a copy has another one."""

    path: str
    device: int
    inode: int

    @classmethod
    def of(cls, directory: Path) -> Self:
        found = directory.stat()
        return cls(str(directory.resolve()), found.st_dev, found.st_ino)

    def is_copied_to(self, directory: Path) -> bool:
        return not self.is_at(directory) and self.is_at(Path(self.path))

    def is_at(self, directory: Path) -> bool:
        """A path's device number may change with each mount."""
        try:
            found = self.of(directory)
        except OSError:
            return False
        return found.inode == self.inode and (found.path == self.path or found.device == self.device)
