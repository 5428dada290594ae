"""The user of a root agent's loads: from agent.toml, otherwise `iotide-load` if the node has it."""

import logging
import os
import pwd
from typing import Final, NamedTuple

from iotide_agent.node.config import AgentConfig

DEFAULT_USER: Final = "iotide-load"
_logger = logging.getLogger(__name__)
_ROOT: Final = "root"
_MAKE: Final = "useradd --system --shell /usr/sbin/nologin"


class LoadUser(NamedTuple):
    """User, group and all groups of the loads (empty for the agent's user), with a sentence on the choice."""

    ids: tuple[int, ...]
    sentence: str
    remedy: str | None = None
    is_usable: bool = True


def find_load_user(config: AgentConfig, known: LoadUser | None = None) -> LoadUser:
    """Return the user of the loads; keep the ids of a `known` user.

    If the directory service did not answer, the user would seem to be gone, and root would run the loads.
    """
    found = _find(config)
    if known is None or not known.ids or found.ids == known.ids:
        return found
    remedy = "restart the agent to change it"
    _logger.warning("load_user_kept kept=%r found=%r remedy=%r", known.sentence, found.sentence, remedy)
    return known


def _find(config: AgentConfig) -> LoadUser:
    if os.geteuid() != 0:
        return _of_ordinary_agent(config.run_as)
    name = config.run_as or DEFAULT_USER
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return _of_missing(name, is_asked_for=config.run_as is not None)
    if entry.pw_uid == 0:
        return LoadUser((), "root; benchmarks run as root too, because of `run_as` in agent.toml")
    groups = os.getgrouplist(name, entry.pw_gid)
    return LoadUser((entry.pw_uid, entry.pw_gid, *groups), f"root; benchmarks run as {name} (user {entry.pw_uid})")


def _of_ordinary_agent(run_as: str | None) -> LoadUser:
    own = os.geteuid()
    try:
        is_own = run_as is None or pwd.getpwnam(run_as).pw_uid == own
    except KeyError:
        is_own = False
    if not is_own:
        sentence = f"run_as = {run_as!r} in agent.toml: the agent runs as user {own}, who cannot change to another user"
        return LoadUser((), sentence, "remove `run_as`, or start the agent as root", is_usable=False)
    return LoadUser((), f"{own}, not root; the resulting limits are listed below")


def _of_missing(name: str, *, is_asked_for: bool) -> LoadUser:
    if is_asked_for:
        sentence = f"run_as = {name!r} in agent.toml: this node does not have that user"
        return LoadUser((), sentence, f"{_MAKE} {name}", is_usable=False)
    return LoadUser(
        (),
        f"root; benchmarks run as root too, because this node has no user {name}",
        f"{_MAKE} {name}; then give it the approved directories (chown {name} DIRECTORY) and restart the agent. "
        f'To keep root, set run_as = "{_ROOT}" in agent.toml',
    )
