"""Setup of the agent as a service. The order lets an interrupted setup continue when it is repeated."""

import os
import pwd
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from iotide_agent.node.config import SYSTEM_CONFIG, AgentConfig
from iotide_agent.node.enrolment import enroll
from iotide_agent.runner.files import closing
from iotide_agent.runner.users import acting_as
from iotide_agent.setup.demands import Demand, check_node, missing_directories, present_identity, wanted_config
from iotide_agent.setup.scratch import install_scratch
from iotide_agent.setup.texts import DROP_SERVICE_UNIT, DROP_SOCKET_UNIT, UNIT, USER, drop_in, shipped_unit, unit
from iotide_wire.setup.changes import Changes, SetupError
from iotide_wire.setup.services import UNITS, add_user, start_unit, write_unit

_DROP_IN: Final = UNITS / f"{UNIT}.d/10-setup.conf"
"""Systemd reads it before override.conf, which `systemctl edit` writes."""
_PRIVATE: Final = 0o700
_CHECK_STATUSES: Final = (0, 1)
"""A check that ran to its end has one of these."""


def set_up(demand: Demand, read_token: Callable[[], str], changes: Changes) -> None:
    """Check everything, enrol, then create user, directories, files and service.

    A refused enrolment leaves nothing. Raise ConfigError, SetupError, NotEnrolledError, PinError, Refusal,
    Unreachable or OSError.
    """
    config, text = wanted_config(demand)
    unit_text, drop_in_text = unit(demand.program), drop_in(config, demand.program)
    check_node(demand, config)
    identity = present_identity(demand, config)
    if identity is None:
        token = "" if changes.is_dry else read_token()
        changes.make(f"enrol this host at {demand.server}", lambda: _enrol(demand, config, token, changes.say))
    add_user(changes, USER)
    hand_over(config.state_directory, changes)
    for directory in missing_directories(config):
        changes.make(f"create {directory} for {USER}", partial(_create, directory))
    differs = [changes.write(SYSTEM_CONFIG, text)] if text is not None else []
    differs += [write_unit(changes, UNIT, unit_text), changes.write(_DROP_IN, drop_in_text)]
    helpers = [changes.write(UNITS / name, shipped_unit(name)) for name in (DROP_SERVICE_UNIT, DROP_SOCKET_UNIT)]
    helpers.append(install_scratch(changes))
    start_unit(changes, DROP_SOCKET_UNIT, is_changed=any(helpers))
    # Loads continue, see KillMode= of the unit.
    start_unit(changes, UNIT, is_changed=identity is None or any(differs))
    if changes.count == 0:
        changes.say("nothing to change: this node is set up")


def check_as_agent(program: Path) -> None:
    """Print the findings of `iotide-agent check`, run by the agent's user. Raise SetupError if it cannot run."""
    account = pwd.getpwnam(USER)
    checked = subprocess.run(
        [program, "check", "--config", SYSTEM_CONFIG],
        user=account.pw_uid,
        group=account.pw_gid,
        extra_groups=os.getgrouplist(USER, account.pw_gid),
        cwd="/",
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
        check=False,
    )
    if checked.returncode not in _CHECK_STATUSES:
        status = f"`{program} check` ended with status {checked.returncode} as user {USER}"
        raise SetupError(f"{status}; correct what it printed, then run setup again")


def starting_command(program: Path) -> str:
    """Return the command that starts the agent where systemd does not run."""
    return f"setpriv --reuid={USER} --regid={USER} --init-groups {program} run --config {SYSTEM_CONFIG}"


def _enrol(demand: Demand, config: AgentConfig, token: str, say: Callable[[str], None]) -> None:
    ca_pem = None if demand.ca_file is None else demand.ca_file.read_text(errors="replace")
    # Root must not write where another user could exchange names.
    with acting_as(_ids_of_owner(config.state_directory)):
        reply = enroll(config, demand.server, token, replace=demand.replaces, ca_pem=ca_pem)
    say(f"this host is node {reply.node_name} of cluster {reply.cluster}")


def _ids_of_owner(state: Path) -> Sequence[int]:
    if not state.exists():
        return ()
    found = state.stat()
    return (found.st_uid, found.st_gid, found.st_gid) if found.st_uid != 0 else ()


def hand_over(state: Path, changes: Changes) -> None:
    """Give a state directory that root has created, with the new identity, to the agent's user."""
    if state.exists() and state.stat().st_uid != 0:
        return

    def give() -> None:
        account = pwd.getpwnam(USER)
        state.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        # The directory last: until then no other user can place anything in it.
        for path in (*state.iterdir(), state):
            os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)

    changes.make(f"give {state} to {USER}", give)


def _create(directory: Path) -> None:
    """Create a directory of the agent's user, in a parent where other users may create names, such as /scratch."""
    account = pwd.getpwnam(USER)
    draft = directory.with_name(f".{directory.name}.iotide-new")
    with suppress(FileExistsError):  # left by an interrupted setup
        draft.mkdir(mode=_PRIVATE)
    descriptor = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with closing(descriptor):
        if os.fstat(descriptor).st_uid not in {0, account.pw_uid}:
            raise SetupError(f"{draft} belongs to another user; remove it, then run setup again: it continues")
        os.fchown(descriptor, account.pw_uid, account.pw_gid)
    draft.rename(directory)
