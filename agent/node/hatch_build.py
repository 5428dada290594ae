"""Packs the man pages into the wheel, if `./dev docs` has built them."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackManPages(BuildHookInterface):  # type: ignore[type-arg]  # generic in its configuration, which is none
    """Build hook that adds files from outside `agent/node/`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files; hatchling calls this before a build."""
        if version == "editable":
            return
        built = Path(self.root).parents[1] / "docs/site/dist/man"
        pages = [built / f"{name}.1" for name in ("iotide", "iotide-agent")]
        build_data["shared_data"] = {str(page): f"share/man/man1/{page.name}" for page in pages if page.is_file()}
