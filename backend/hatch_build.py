"""Packs migrations, dashboard and documentation into the wheel; an editable install finds them here."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackRepository(BuildHookInterface):  # type: ignore[type-arg]  # generic in its configuration, which is none
    """Build hook that adds files from outside `backend/`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files; hatchling calls this before a build."""
        if version == "editable":
            return
        top = Path(self.root).parent
        browser = top / "frontend" / "dist"
        if not browser.is_dir():
            raise FileNotFoundError(f"{browser} is missing: run `npm ci && npm run build` in frontend/ first")
        build_data["force_include"] = {
            str(top / "migrations"): "iotide_server/migrations",
            str(browser): "iotide_server/frontend",
        }
        docs = top / "docs/site/dist"
        if docs.is_dir():  # built by `./dev docs`; a server without it answers 404 with the remedy
            build_data["force_include"][str(docs / "html")] = "iotide_server/docs"
            build_data["shared_data"] = {str(docs / "man/iotide-server.1"): "share/man/man1/iotide-server.1"}
