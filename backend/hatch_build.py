"""Packs migrations and the built browser application into a wheel; an editable install reads them where they are."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackRepository(BuildHookInterface):  # type: ignore[type-arg]  # generic in its configuration, which is none
    """Adds what stands outside `backend/`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it builds."""
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
