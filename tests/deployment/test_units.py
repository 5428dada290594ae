"""Promises of the systemd units, read from the files; `./dev test-deploy` checks them with systemd."""

import re
from typing import Final

import pytest
from deployment.units import PACKAGED, ROOT, SERVER_PARTS, UNITS, read_unit
from typer.main import get_command

from iotide_agent.cli.agent import app as agent_app
from iotide_agent.cli.explaining import BAD_INPUT_STATUS, OTHER_AGENT_STATUS
from iotide_agent.node.config import SYSTEM_CONFIG, SYSTEM_STATE
from iotide_server.bundled.privileges import USER
from iotide_server.commands.program import COMMANDS as SERVER_COMMANDS
from iotide_server.commands.program import program_of
from iotide_server.setup.texts import SETTINGS, STATE

NEVER_GIVEN_UP: Final = {
    "NoNewPrivileges": "yes",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "DevicePolicy": "closed",
    "CapabilityBoundingSet": "",
    "ProtectKernelTunables": "yes",
    "RestrictNamespaces": "yes",
    "RestrictSUIDSGID": "yes",
    "SystemCallArchitectures": "native",
    "UMask": "0077",
}
SERVICES: Final = (*(f"iotide-{part}.service" for part in SERVER_PARTS), *PACKAGED)
SANDBOX: Final = re.compile(r"(?s)# Sandbox.*?\n\n")
COMMANDS: Final = {
    "/opt/iotide/bin/iotide-server": program_of(SERVER_COMMANDS),
    "/opt/iotide-agent/bin/iotide-agent": agent_app,
}


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_is_an_ordinary_user_in_a_sandbox(name: str) -> None:
    unit = read_unit(name)
    assert unit["User"][0] not in {"", "root"}
    assert {key: unit[key][0] for key in NEVER_GIVEN_UP} == NEVER_GIVEN_UP
    assert unit["SystemCallFilter"][0] == "@system-service"
    assert "@privileged" in unit["SystemCallFilter"][1]


def test_the_backup_has_the_same_restrictions_as_the_servers_units() -> None:
    unit, api = read_unit("../backup/iotide-backup.service"), read_unit("iotide-api.service")
    own = {key for key in api if key.startswith(("Protect", "Private", "Restrict"))} & unit.keys()
    assert {"ProtectSystem", "PrivateDevices", "ProtectKernelTunables", "RestrictNamespaces", "RestrictSUIDSGID"} <= own
    always = {*own, "UMask", "CapabilityBoundingSet", "AmbientCapabilities", "NoNewPrivileges", "LockPersonality"}
    assert {key: unit[key] for key in always} == {key: api[key] for key in always}


def test_the_backup_unit_names_the_settings_it_needs_with_the_servers_units() -> None:
    unit_text = (ROOT / "deploy/backup/iotide-backup.service").read_text()
    api = read_unit("iotide-api.service")
    (secrets,) = [word for line in api["Environment"] for word in line.split() if word.startswith("IOTIDE_SECRETS=")]
    wanted = ["#   Environment=", f"#   EnvironmentFile={api['EnvironmentFile'][0]}", f"#   Environment={secrets}"]
    assert "\n".join(wanted) in unit_text, "IOTIDE_STATE is asked first, so it goes"


def test_the_servers_units_have_one_sandbox() -> None:
    texts = {SANDBOX.findall((UNITS / f"iotide-{part}.service").read_text())[0] for part in SERVER_PARTS}
    assert len(texts) == 1


def test_the_unit_of_setup_has_the_same_sandbox_except_for_the_id_of_the_boot() -> None:
    whole, part = read_unit("iotide.service"), read_unit("iotide-api.service")
    sandbox = {key for key in part if key.startswith(("Protect", "Private", "Restrict", "SystemCall"))}
    assert len(sandbox) > 15
    assert {key: whole[key] for key in sandbox} == {key: part[key] for key in sandbox}
    assert "ProcSubset" not in whole


def test_the_unit_of_setup_leaves_the_order_of_stops_and_the_limits_of_starts_to_up() -> None:
    unit = read_unit("iotide.service")
    assert unit["Type"] == ["notify"]
    assert unit["ExecStart"][0].endswith(f" up --state {STATE}")
    assert unit["StateDirectory"] == [STATE.name]
    assert unit["EnvironmentFile"] == [str(SETTINGS)]
    assert unit["KillMode"] == ["mixed"]
    assert unit["TimeoutStartSec"] == ["infinity"]
    assert unit["User"] == [USER]


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_starts_a_command_that_there_is(name: str) -> None:
    program, subcommand, *_ = read_unit(name)["ExecStart"][0].split()
    assert subcommand in get_command(COMMANDS[program]).commands  # type: ignore[attr-defined]


def test_a_database_that_is_late_when_the_machine_starts_is_waited_for() -> None:
    """systemd never retries a unit after a required one failed, so the required one must not fail."""
    migrate = read_unit("iotide-migrate.service")
    assert migrate["ExecStart"][0].split()[1:] == ["migrate", "--wait"]
    assert migrate["Type"] == ["oneshot"]  # systemd.service(5): without a limit of its own it may take forever to start
    assert not {"TimeoutSec", "TimeoutStartSec", "JobTimeoutSec", "RuntimeMaxSec"} & migrate.keys()
    for part in ("api", "scheduler", "worker"):
        unit = read_unit(f"iotide-{part}.service")
        assert unit["Requires"] == ["iotide-migrate.service"]
        assert unit["After"][0].split()[0] == "iotide-migrate.service"
        assert not {"TimeoutSec", "JobTimeoutSec", "JobRunningTimeoutSec"} & unit.keys()


def test_a_load_and_its_lock_outlive_the_agents_unit() -> None:
    unit = read_unit("iotide-agent.service")
    assert unit["KillMode"] == ["process"]
    assert unit["OOMPolicy"] == ["continue"]
    assert not {"MemoryMax", "MemoryHigh", "CPUQuota", "IOWeight", "RuntimeMaxSec"} & unit.keys()


def test_the_agents_unit_and_the_agent_agree_on_paths_and_exit_statuses() -> None:
    unit = read_unit("iotide-agent.service")
    assert f"IOTIDE_AGENT_CONFIG={SYSTEM_CONFIG} IOTIDE_AGENT_STATE={SYSTEM_STATE}" in unit["Environment"][0]
    assert unit["StateDirectory"] == [SYSTEM_STATE.name]
    assert unit["StateDirectoryMode"] == ["0700"]
    assert unit["RestartPreventExitStatus"] == [f"{BAD_INPUT_STATUS} {OTHER_AGENT_STATUS}"]


def test_sudo_works_without_the_settings_that_would_prevent_it() -> None:
    """systemd.exec(5): these imply NoNewPrivileges= in the unit of an ordinary user."""
    unit, dropped = read_unit("iotide-agent.service"), read_unit("iotide-agent.sudo.conf")
    implying = {
        *("SystemCallFilter", "SystemCallArchitectures", "RestrictAddressFamilies", "RestrictNamespaces"),
        *("PrivateDevices", "ProtectKernelTunables", "ProtectKernelModules", "ProtectKernelLogs", "ProtectClock"),
        *("MemoryDenyWriteExecute", "RestrictRealtime", "RestrictSUIDSGID", "LockPersonality", "ProtectHostname"),
    }
    given_up = {"", "no"}
    assert dropped["NoNewPrivileges"] == ["no"]
    assert {key for key in implying & unit.keys() if set(dropped.get(key, ["kept"])) - given_up} == set()


def test_redis_listens_only_on_loopback_by_tls_and_has_no_default_user() -> None:
    lines = set((UNITS / "redis-iotide.conf").read_text().splitlines())
    assert {"bind 127.0.0.1 -::1", "port 0", "aclfile /etc/redis/iotide/users.acl", "appendonly yes"} <= lines
    assert not [line for line in lines if line.startswith(("user ", "requirepass"))]


def test_the_api_listens_on_loopback_where_the_proxies_of_the_examples_look() -> None:
    assert read_unit("iotide-api.service")["ExecStart"][0].endswith("api --host 127.0.0.1 --port 8470")
    for example in ("nginx.conf", "Caddyfile"):
        assert "127.0.0.1:8470" in (ROOT / "deploy/proxy" / example).read_text()
