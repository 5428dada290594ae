"""Root's record of adopted disks. A mark on a disk is no proof: a user who may write the disk can forge one."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from iotide_agent.runner.files import replace_file
from iotide_agent.scratch.mark import Adoption, MarkError, adoption_of
from iotide_agent.scratch.refusals import ScratchRefusedError

_BAY: Final = "bay"


@dataclass(frozen=True, slots=True)
class RecordedAdoption:
    """An adoption as root confirmed it. `bay` is the disk's at that time, empty if unknown."""

    adoption: Adoption
    bay: str


class Adoptions:
    """File of recorded adoptions, by the names of disks in scratch.toml. Only root may read or change it."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, device: str) -> RecordedAdoption | None:
        """Return the record of a disk, None without one; raise ScratchRefusedError for an unreadable file."""
        row = self._rows().get(device)
        if row is None:
            return None
        try:
            fields = dict(row)
            bay = fields.pop(_BAY)
            return RecordedAdoption(adoption_of(fields), str(bay))
        except (MarkError, KeyError, TypeError, ValueError) as error:
            raise self._unreadable(error) from error

    def check(self, device: str, found: Adoption) -> None:
        """Raise ScratchRefusedError unless root of this node recorded exactly this adoption."""
        recorded = self.of(device)
        if recorded is None or recorded.adoption != found:
            raise ScratchRefusedError(
                f"{device}: {self._file} does not have its adoption {found.id}: another machine or an earlier version "
                f"wrote the mark; run `iotide-agent scratch adopt --same-disk {device}` if root of this node adopted it"
            )

    def record(self, device: str, adoption: Adoption, bay: str) -> None:
        self._write({**self._rows(), device: {**asdict(adoption), _BAY: bay}})

    def forget(self, device: str) -> None:
        self._write({name: row for name, row in self._rows().items() if name != device})

    def _rows(self) -> Mapping[str, Any]:
        try:
            found = json.loads(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise self._unreadable(error) from error
        if not isinstance(found, dict):
            raise self._unreadable("not a JSON object")
        return found

    def _write(self, rows: Mapping[str, Any]) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(self._file, json.dumps(rows, indent=1), durable=True)

    def _unreadable(self, reason: object) -> ScratchRefusedError:
        return ScratchRefusedError(
            f"{self._file} cannot be read: {reason}; restore it from a backup, or remove it and run "
            f"`iotide-agent scratch adopt --same-disk` for each disk that root adopted"
        )
