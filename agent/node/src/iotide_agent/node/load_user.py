"""The user who runs the loads of a root agent: that of agent.toml, else `iotide-load` where this node has it."""

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
    """Whose rights loads have: user, group and all groups, none for the agent's own user; how it came to that.

    `remedy`: what to do where root runs the loads though nobody asked for that, or no load can be run at all.
    """

    ids: tuple[int, ...]
    sentence: str
    remedy: str | None = None
    is_usable: bool = True


def find_load_user(config: AgentConfig, known: LoadUser | None = None) -> LoadUser:
    """Find out whose rights the loads get, by the node's list of users.

    The ids of a `known` user stay, since a directory service that does not answer looks like a user who does not exist,
    and root would run the loads then.
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
        return LoadUser((), "root; loads run as root too, as run_as of agent.toml says")
    groups = os.getgrouplist(name, entry.pw_gid)
    return LoadUser((entry.pw_uid, entry.pw_gid, *groups), f"root; loads run as {name} (user {entry.pw_uid})")


def _of_ordinary_agent(run_as: str | None) -> LoadUser:
    own = os.geteuid()
    try:
        is_own = run_as is None or pwd.getpwnam(run_as).pw_uid == own
    except KeyError:
        is_own = False
    if not is_own:
        sentence = f"run_as = {run_as!r} of agent.toml: the agent runs as user {own}, who cannot become another one"
        return LoadUser((), sentence, "leave run_as out, or start the agent as root", is_usable=False)
    return LoadUser((), f"{own}, no root; what that keeps from working here stands below")


def _of_missing(name: str, *, is_asked_for: bool) -> LoadUser:
    if is_asked_for:
        sentence = f"run_as = {name!r} of agent.toml: this node has no such user"
        return LoadUser((), sentence, f"{_MAKE} {name}", is_usable=False)
    return LoadUser(
        (),
        f"root; loads run as root too, since this node has no user {name}",
        f"{_MAKE} {name}; then give it the approved directories (chown {name} DIRECTORY) and restart the agent. "
        f'To keep root, write run_as = "{_ROOT}" in agent.toml',
    )
