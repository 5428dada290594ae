"""Agent files of this server, as they were when it started."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Final

from iotide_server.kit.app_values import AppValue

BUNDLE: Final = "iotide-agent.tar"
SCRIPT: Final = "join.sh"
AUTHORITY: Final = "ca.crt"
AGENT_SHELF: Final[AppValue["AgentShelf"]] = AppValue("agent_shelf")
_PLACE_OF_DIGEST: Final = "@BUNDLE_SHA256@"


@dataclass(frozen=True)
class AgentShelf:
    """`texts` and `paths` are by name. Without a bundle there is no script either."""

    texts: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, Path] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return sorted({*self.texts, *self.paths})

    @property
    def script_sha256(self) -> str | None:
        script = self.texts.get(SCRIPT)
        return None if script is None else hashlib.sha256(script.encode()).hexdigest()


def stock(directory: Path | None, ca_pem: str | None) -> AgentShelf:
    """Return the files of `directory`, by default of this package, and the script that installs its bundle.

    Links, directories and hidden files are left out. The names are fixed from then on, so a request cannot name
    another path.
    """
    place = directory or Path(str(files("iotide_server.agent_files"))) / "files"
    found = sorted(place.iterdir()) if place.is_dir() else []
    paths = {path.name: path for path in found if path.is_file() and not path.is_symlink() and path.name[0] != "."}
    texts = {} if ca_pem is None else {AUTHORITY: ca_pem}
    if BUNDLE in paths:
        texts[SCRIPT] = _script(paths[BUNDLE])
    return AgentShelf(texts, {name: path for name, path in paths.items() if name not in texts})


def _script(bundle: Path) -> str:
    """Return the script that installs exactly this bundle."""
    with bundle.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return (files("iotide_server.agent_files") / SCRIPT).read_text().replace(_PLACE_OF_DIGEST, digest)
