"""Setup of the server as a service. The order lets an interrupted setup continue when it is repeated."""

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from iotide_server.bundled.options import UpOptions
from iotide_server.bundled.ports import check_port
from iotide_server.bundled.privileges import USER
from iotide_server.bundled.privileges import account_of as owner_of
from iotide_server.bundled.state import check_unused
from iotide_server.setup.texts import (
    SETTINGS,
    STATE,
    UNIT,
    ServerOptions,
    check_options,
    port_in,
    server_env,
    unit,
    variable_of,
    variables_in,
)
from iotide_wire.setup.changes import Changes, SetupError, output
from iotide_wire.setup.services import (
    UNITS,
    account_of,
    add_user,
    check_program,
    check_space,
    check_user,
    start_unit,
    systemd_runs,
    write_unit,
)
from iotide_wire.units import GIB, MIB

_SPLIT_UNIT: Final = UNITS / "iotide-api.service"
_PRIVATE_DIRECTORY: Final = 0o700
_PRIVATE_FILE: Final = 0o600
_STATE_BYTES: Final = GIB
_FILES_BYTES: Final = MIB
_FAILED: Final = "failed"
_STOPPED: Final = frozenset({"", "inactive", _FAILED})
_JOURNAL: Final = ("journalctl", f"--unit={UNIT}", "--lines=20", "--output=cat", "--no-pager", "--quiet")


@dataclass(frozen=True, slots=True)
class ServerDemand:
    """Arguments of `iotide-server setup`; `program` is this program, at the path that the unit starts."""

    options: ServerOptions
    program: Path


def set_up(demand: ServerDemand, changes: Changes) -> None:
    """Check everything, then create user, state directory, settings and service, and wait until the API answers.

    Raise SetupError, StartError or OSError.
    """
    check_options(demand.options)
    settings = SETTINGS.read_text(encoding="utf-8") if SETTINGS.exists() else server_env(demand.options)
    variables, unit_text = variables_in(settings), unit(demand.program)
    _check_agreement(demand.options, variables)
    _check_machine(demand.program, variables)
    add_user(changes, USER)
    create_state(changes)
    differs = [changes.write(SETTINGS, settings, mode=_PRIVATE_FILE), write_unit(changes, UNIT, unit_text)]
    _start(changes, is_changed=any(differs))
    if changes.count == 0:
        changes.say("nothing to change: this server is set up")


def starting_command(program: Path) -> str:
    """Return root's command that starts the server where systemd does not run."""
    return f"sh -c 'set -a; . {SETTINGS}; exec {program} up --state {STATE}'"


def _check_agreement(options: ServerOptions, variables: Mapping[str, str]) -> None:
    """Raise SetupError if an option contradicts the settings file, which setup does not change."""
    for option, value in options.given.items():
        name = variable_of(option)
        if variables.get(name) != value:
            has = f"has {name}={variables[name]}" if name in variables else f"does not set {name}"
            raise SetupError(f"{option} {value}: {SETTINGS} {has}; change it there, then run systemctl restart iotide")


def _check_machine(program: Path, variables: Mapping[str, str]) -> None:
    """Raise SetupError or StartError if this machine cannot be set up; nothing was changed."""
    if _SPLIT_UNIT.exists():
        raise SetupError(
            f"{_SPLIT_UNIT} exists: this machine already has the server as several units; remove them first"
        )
    check_program(program, USER, "server")
    check_user(USER)
    _check_state()
    check_space(STATE, _STATE_BYTES)
    check_space(SETTINGS, _FILES_BYTES)
    if systemd_runs() and _active_state() in _STOPPED:
        check_unused(STATE)
        _check_ports(variables)


def _check_state() -> None:
    if not STATE.exists():
        return
    owner, own = STATE.stat().st_uid, account_of(USER)
    is_new = owner == 0 and not any(STATE.iterdir())
    if not is_new and (own is None or owner != own.pw_uid):
        raise SetupError(
            f"{STATE} belongs to {owner_of(owner).name}; stop its server, create the system user {USER} if it does not "
            f"exist, run `chown -R {USER}: {STATE}`, then run setup again"
        )


def _check_ports(variables: Mapping[str, str]) -> None:
    port = port_in(variables)
    options = UpOptions(
        state=STATE,
        listen=variables.get("IOTIDE_LISTEN"),
        public_name=None,
        port=port,
        redis_port=port + 1,
        redis_tls_port=port + 2,
        database_url=None,
        redis_url=variables.get("IOTIDE_REDIS_URL"),
    )
    for host, taken, _ in options.listening:
        check_port(host, taken, option=f"IOTIDE_PORT in {SETTINGS}" if SETTINGS.exists() else "--port")


def create_state(changes: Changes) -> None:
    """Create the state directory, in a directory where only root creates names."""
    if STATE.exists() and STATE.stat().st_uid != 0:
        return

    def create() -> None:
        account = pwd.getpwnam(USER)
        STATE.mkdir(mode=_PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        STATE.chmod(_PRIVATE_DIRECTORY)
        os.chown(STATE, account.pw_uid, account.pw_gid)

    changes.make(f"create {STATE} for {USER}", create)


def _start(changes: Changes, *, is_changed: bool) -> None:
    if not changes.is_dry and _active_state() == _FAILED:
        output("systemctl", "reset-failed", UNIT)  # otherwise systemd does not start what has failed many times
    try:
        start_unit(changes, UNIT, is_changed=is_changed)
    except SetupError as error:
        reasons = output(*_JOURNAL)
        raise SetupError(f"{reasons}\n{error}" if reasons else str(error)) from error


def _active_state() -> str:
    return output("systemctl", "show", "--property=ActiveState", "--value", UNIT)
