"""Contents of the files that setup writes; pure, except for reading the units of this package."""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Final

from iotide_agent.node.config import SYSTEM_STATE, AgentConfig, ConfigError
from iotide_wire.setup.services import HIDDEN, is_below

USER: Final = "iotide-agent"
UNIT: Final = "iotide-agent.service"
DROP_SOCKET_UNIT: Final = "iotide-drop-caches.socket"
DROP_SERVICE_UNIT: Final = "iotide-drop-caches@.service"
SCRATCH_SOCKET_UNIT: Final = "iotide-scratch.socket"
SCRATCH_SERVICE_UNIT: Final = "iotide-scratch.service"
SCRATCH_RULES: Final = "61-iotide-scratch.rules"
_PROGRAM_OF_UNIT: Final = "/opt/iotide-agent/bin/iotide-agent"
_UNQUOTABLE: Final = frozenset('"\\')


def agent_toml(server: str, directories: Sequence[str]) -> str:
    return (
        "# Written by `iotide-agent setup`, which never changes it again.\n"
        f"server = {json.dumps(server)}\n"
        f"state_directory = {json.dumps(str(SYSTEM_STATE))}\n"
        "# Runs write only below these. After a change, run setup again: it allows them in the systemd unit.\n"
        f"approved_directories = [{', '.join(map(json.dumps, directories))}]\n"
    )


def unit(program: Path) -> str:
    """Return the systemd unit that starts this program."""
    return shipped_unit(UNIT).replace(_PROGRAM_OF_UNIT, str(program))


def shipped_unit(name: str) -> str:
    return (files("iotide_agent.setup") / name).read_text(encoding="utf-8")


def drop_in(config: AgentConfig, program: Path) -> str:
    """Return the settings of the unit that depend on this node.

    Raise ConfigError for a directory that a unit cannot name.
    """
    # The version's own path: a new version changes this file, and setup restarts the agent.
    directories = list(config.approved_directories)
    if config.state_directory != SYSTEM_STATE:
        directories.append(str(config.state_directory))
    lines = [f"# Written by `iotide-agent setup` of {program.resolve()}", "[Service]"]
    lines += [f"ReadWritePaths={_quoted(directory)}" for directory in directories]
    for setting, hidden in HIDDEN.items():
        if any(is_below(PurePosixPath(directory), hidden) for directory in directories):
            lines.append(setting)
    return "\n".join(lines) + "\n"


def _quoted(directory: str) -> str:
    if not directory.isprintable() or _UNQUOTABLE & set(directory):
        raise ConfigError("--directory", directory, "use a path without quotes, backslashes and control characters")
    # `-`: a file system that is not mounted at boot must not keep the agent from starting.
    return f'"-{directory.replace("%", "%%")}"'
