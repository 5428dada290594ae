"""Reads systemd units, which repeat some settings."""

from collections import defaultdict
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
UNITS: Final = ROOT / "deploy/systemd"
AGENT_UNIT: Final = ROOT / "agent/node/src/iotide_agent/setup/iotide-agent.service"
SERVER_UNIT: Final = ROOT / "backend/src/iotide_server/setup/iotide.service"
SETUP: Final = AGENT_UNIT.parent
PACKAGED: Final = {unit.name: unit for unit in (AGENT_UNIT, SERVER_UNIT)}
"""In packages, because `setup` installs them."""
SERVER_PARTS: Final = ("migrate", "api", "scheduler", "worker")


def read_unit(name: str) -> dict[str, list[str]]:
    """Return the values of each setting in order, for all sections together.

    Raises:
        AssertionError: a line is no setting, no section, no comment.
    """
    settings: dict[str, list[str]] = defaultdict(list)
    file = PACKAGED.get(name) or next(path for path in (UNITS / name, SETUP / name) if path.exists())
    for line in file.read_text().splitlines():
        if not line or line.startswith(("#", "[")):
            continue
        key, equals, value = line.partition("=")
        assert equals, line
        assert key.isalnum(), line
        settings[key].append(value)
    return settings
