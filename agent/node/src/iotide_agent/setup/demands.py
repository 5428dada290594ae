"""Checks before the first change: what setup is asked for, and whether this node can have it."""

import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from iotide_agent.node.config import SYSTEM_CONFIG, SYSTEM_STATE, AgentConfig, ConfigError, load_config, parse_config
from iotide_agent.node.identity import FILE_NAME, Identity, load_identity
from iotide_agent.probes.reader import CommandWant, SystemReader, Unavailable
from iotide_agent.runner.headroom import HEADROOM_BYTES
from iotide_agent.setup.texts import USER, agent_toml
from iotide_wire.setup.changes import SetupError
from iotide_wire.setup.services import check_program, check_space, check_user

_USUAL_DIRECTORY: Final = Path("/scratch/iotide")


@dataclass(frozen=True, slots=True)
class Demand:
    """Arguments of `iotide-agent setup`.

    Attributes:
        directories: Directories for runs; empty for those of agent.toml, or /scratch/iotide.
        program: This program, at the path that the unit starts.
        replaces: Whether to give up the identity that this host has.
    """

    server: str
    directories: tuple[str, ...]
    program: Path
    ca_file: Path | None = None
    replaces: bool = False


def wanted_config(demand: Demand) -> tuple[AgentConfig, str | None]:
    """Return the configuration, and the text of a new agent.toml; None if there is one that sets something.

    Raise ConfigError for a wrong demand, and if the present file contradicts it.
    """
    values = {"server": demand.server, "state_directory": SYSTEM_STATE, "approved_directories": demand.directories}
    comments = _comments_alone()
    if comments is not None:
        config = parse_config(values | {"approved_directories": demand.directories or _usual_directories()})
        return config, agent_toml(demand.server, config.approved_directories) + comments
    found, asked = load_config(SYSTEM_CONFIG), parse_config(values)
    if found.server not in {None, demand.server}:
        raise ConfigError("SERVER", demand.server, f"{SYSTEM_CONFIG} names {found.server}; change one of the two")
    for directory in asked.approved_directories:
        if directory not in found.approved_directories:
            remedy = f"{SYSTEM_CONFIG} exists and does not approve it; add it to approved_directories there"
            raise ConfigError("--directory", directory, remedy)
    return found, None


def _comments_alone() -> str | None:
    """Return the text of an agent.toml that sets nothing, as the deb and the rpm have it; empty if there is none."""
    if not SYSTEM_CONFIG.exists():
        return ""
    with suppress(OSError, ValueError):  # reported when it is loaded
        text = SYSTEM_CONFIG.read_text(encoding="utf-8")
        if not tomllib.loads(text):
            return f"\n{text}"
    return None


def _usual_directories() -> tuple[str, ...]:
    if not _USUAL_DIRECTORY.parent.is_dir():
        remedy = f"this node has no {_USUAL_DIRECTORY.parent}; name a directory for runs, such as /mnt/lustre/iotide"
        raise ConfigError("--directory", None, remedy)
    return (str(_USUAL_DIRECTORY),)


def present_identity(demand: Demand, config: AgentConfig) -> Identity | None:
    """Return the identity to keep; None if this host has to enrol.

    Raise ConfigError if it belongs to another server, and NotEnrolledError if it cannot be used.
    """
    if demand.replaces or not (config.state_directory / FILE_NAME).exists():
        return None
    found = load_identity(config.state_directory)
    if found.server_url != demand.server:
        remedy = f"this host is node {found.node_name} of {found.server_url}; use --replace to enrol it elsewhere"
        raise ConfigError("SERVER", demand.server, remedy)
    return found


def check_node(demand: Demand, config: AgentConfig) -> None:
    """Raise SetupError if this node cannot be set up; nothing was changed."""
    check_program(demand.program, USER, "agent")
    _check_state(config.state_directory)
    for directory in missing_directories(config):
        if not _is_directory(directory.parent):
            raise SetupError(
                f"--directory {directory}: {directory.parent} does not exist; mount the file system that is to be "
                "measured, or create that directory yourself"
            )
    check_user(USER)
    for directory in {config.state_directory, SYSTEM_CONFIG.parent}:
        check_space(directory, HEADROOM_BYTES)


def _check_state(state: Path) -> None:
    if not state.exists() or state.stat().st_uid != 0:
        return
    if {path.name for path in state.iterdir()} - {FILE_NAME}:  # an interrupted setup leaves only the identity
        raise SetupError(
            f"{state} was used by an agent that runs as root; stop that agent and run `chown -R {USER} {state}`, "
            "or keep running it as root, without setup"
        )


def missing_directories(config: AgentConfig) -> list[Path]:
    return [path for path in map(Path, config.approved_directories) if not _is_directory(path)]


def _is_directory(path: Path) -> bool:
    # A dead mount would hang this process.
    return not isinstance(SystemReader().read(CommandWant(("test", "-d", str(path)), "coreutils")), Unavailable)
