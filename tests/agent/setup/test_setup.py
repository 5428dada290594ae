"""`iotide-agent setup` on a host of its own: what it creates, keeps and rejects."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from agent.gateway_double import GatewayDouble
from bare_node import PROGRAM, BareNode, killed_in

from iotide_agent.setup.texts import unit

TOKEN = "0123456789abcdef.-\n"
SCRATCH = ("--directory", "/scratch/iotide")
UNITS = ("iotide-drop-caches.socket", "iotide-agent.service")


@pytest.fixture
def node(tmp_path: Path) -> BareNode:
    return BareNode(tmp_path / "node")


def setup(node: BareNode, gateway: GatewayDouble, *more: str, typed: str = TOKEN) -> subprocess.CompletedProcess[str]:
    return node.run(PROGRAM, "setup", gateway.url, *(more or SCRATCH), typed=typed)


def owner(node: BareNode, path: str) -> tuple[int, str]:
    found = (node.root / path).stat()
    names = {int(line.split(":")[2]): line.split(":")[0] for line in node.read("/etc/passwd").splitlines()}
    return found.st_mode & 0o7777, names[found.st_uid]


def test_setup_makes_a_host_a_node(node: BareNode, gateway: GatewayDouble) -> None:
    node.pretend_systemd()
    done = setup(node, gateway)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "iotide-agent:x:" in node.read("/etc/passwd")
    assert owner(node, "var/lib/iotide-agent") == (0o700, "iotide-agent")
    assert owner(node, "var/lib/iotide-agent/identity.json") == (0o600, "iotide-agent")
    assert owner(node, "etc/iotide/agent.toml") == (0o644, "root")
    assert owner(node, "scratch/iotide") == (0o700, "iotide-agent")
    assert f'server = "{gateway.url}"' in node.read("/etc/iotide/agent.toml")
    assert f"ExecStart={PROGRAM} run" in node.read("/etc/systemd/system/iotide-agent.service")
    drop_in = node.read("/etc/systemd/system/iotide-agent.service.d/10-setup.conf")
    assert 'ReadWritePaths="-/scratch/iotide"' in drop_in
    started = [("daemon-reload", f"enable {unit}", f"restart {unit}") for unit in UNITS]
    assert node.systemctl_calls() == [call for calls in started for call in calls]
    assert "SocketUser=iotide-agent\nSocketMode=0600\n" in node.read(f"/etc/systemd/system/{UNITS[0]}")
    assert "echo 3 >/proc/sys/vm/drop_caches" in node.read("/etc/systemd/system/iotide-drop-caches@.service")
    assert "ready   identity: node node-1 of cluster" in done.stdout
    assert "ready   /scratch/iotide: " in done.stdout


def test_a_second_setup_changes_nothing_and_needs_no_token(node: BareNode, gateway: GatewayDouble) -> None:
    node.pretend_systemd()
    setup(node, gateway)
    before, calls = node.files(), node.systemctl_calls()
    again = setup(node, gateway, typed="")
    assert again.returncode == 0, again.stderr
    assert "nothing to change: this node is set up" in again.stdout
    assert (node.files(), node.systemctl_calls()) == (before, calls)


def test_without_systemd_it_prints_a_command_that_starts_the_agent(node: BareNode, gateway: GatewayDouble) -> None:
    done = setup(node, gateway)
    assert done.returncode == 0, done.stderr
    start = done.stdout.partition("start the agent with: ")[2].split()
    assert start[-1] == "/etc/iotide/agent.toml", done.stdout
    process = subprocess.Popen(node.command(*start), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        gateway.until(lambda: gateway.hellos)
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert gateway.hellos[0].approved_directories == ("/scratch/iotide",)


def test_an_edited_agent_toml_is_kept(node: BareNode, gateway: GatewayDouble) -> None:
    node.pretend_systemd()
    setup(node, gateway)
    file = node.root / "etc/iotide/agent.toml"
    edited = file.read_text().replace('["/scratch/iotide"]', '["/scratch/iotide", "/scratch/second"]')
    file.write_text(edited)
    done = setup(node, gateway)
    assert done.returncode == 0, done.stderr
    assert file.read_text() == edited
    drop_in = node.read("/etc/systemd/system/iotide-agent.service.d/10-setup.conf")
    assert 'ReadWritePaths="-/scratch/second"' in drop_in
    assert owner(node, "scratch/second") == (0o700, "iotide-agent")
    assert node.systemctl_calls()[-2:] == ["daemon-reload", "restart iotide-agent.service"]
    other = setup(node, gateway, "--directory", "/scratch/third")
    assert other.returncode == 2
    assert "/etc/iotide/agent.toml exists and does not approve it" in other.stderr


def test_an_agent_toml_that_sets_nothing_is_filled_and_keeps_its_comments(
    node: BareNode, gateway: GatewayDouble
) -> None:
    file = node.root / "etc/iotide/agent.toml"
    file.parent.mkdir()
    file.write_text('# run_as = "iotide-load"\n')
    for typed in (TOKEN, ""):
        done = setup(node, gateway, typed=typed)
        assert done.returncode == 0, done.stderr
        assert f'\nserver = "{gateway.url}"\n' in file.read_text()
        assert file.read_text().endswith('approved_directories = ["/scratch/iotide"]\n\n# run_as = "iotide-load"\n')
    assert "nothing to change: this node is set up" in done.stdout


def test_a_unit_of_the_package_is_not_written_again(node: BareNode, gateway: GatewayDouble) -> None:
    node.pretend_systemd()
    program = node.root / "opt/iotide-agent-1/bin/iotide-agent"
    elsewhere = (
        "import pathlib, iotide_wire.setup.services as module\n"
        "module._PACKAGED_UNITS = (pathlib.Path('/etc/packaged'),)\nstart_agent()\n"
    )
    program.write_text(program.read_text().replace("\nstart_agent()\n", f"\n{elsewhere}"))
    packaged = node.root / "etc/packaged/iotide-agent.service"
    packaged.parent.mkdir()
    packaged.write_text(unit(Path(PROGRAM)))
    done = setup(node, gateway)
    assert done.returncode == 0, done.stderr
    own = node.root / "etc/systemd/system/iotide-agent.service"
    assert not own.exists()
    assert 'ReadWritePaths="-/scratch/iotide"' in node.read("/etc/systemd/system/iotide-agent.service.d/10-setup.conf")
    of_agent = ["daemon-reload", "enable iotide-agent.service", "restart iotide-agent.service"]
    assert node.systemctl_calls()[3:] == of_agent
    own.write_text("[Service]\nExecStart=/opt/older/bin/iotide-agent run\n")
    assert setup(node, gateway, typed="").returncode == 0
    assert f"ExecStart={PROGRAM} run" in own.read_text()


def test_a_new_version_restarts_the_agent(node: BareNode, gateway: GatewayDouble) -> None:
    node.pretend_systemd()
    setup(node, gateway)
    (node.root / "opt/iotide-agent-1").rename(node.root / "opt/iotide-agent-2")
    (node.root / "opt/iotide-agent").unlink()
    (node.root / "opt/iotide-agent").symlink_to("iotide-agent-2")
    setup(node, gateway)
    assert node.systemctl_calls()[6:] == ["daemon-reload", "restart iotide-agent.service"]


def test_a_dry_run_prints_files_and_commands_and_changes_nothing(node: BareNode, gateway: GatewayDouble) -> None:
    node.pretend_systemd()
    before = node.files()
    done = setup(node, gateway, *SCRATCH, "--dry-run", typed="")
    assert done.returncode == 0, done.stderr
    for line in (
        f"would enrol this host at {gateway.url}",
        "would run useradd --system --user-group",
        "would create /scratch/iotide for iotide-agent",
        "would write /etc/iotide/agent.toml",
        '    approved_directories = ["/scratch/iotide"]',
        "would write /etc/systemd/system/iotide-agent.service",
        "would run systemctl restart iotide-agent.service",
    ):
        assert line in done.stdout
    assert node.files() == before


@pytest.mark.parametrize(
    ("more", "typed", "sentence"),
    [
        (SCRATCH, "", "pass it on standard input: echo TOKEN | iotide-agent setup"),
        (SCRATCH, "0123456789abcdef", "the join token is incomplete"),
        (SCRATCH, f"0123456789abcdef.{'0' * 64}", "use https://"),
        (("--directory", "/missing/iotide"), TOKEN, "/missing does not exist; mount the file system"),
        (("--directory", "relative"), TOKEN, "use an absolute path"),
        (("--directory", "/"), TOKEN, "the root directory cannot be approved"),
        (("--directory", '/scratch/a"b'), TOKEN, "use a path without quotes"),
        ((*SCRATCH, "--ca", "/missing.crt"), TOKEN, "/missing.crt: No such file or directory"),
    ],
)
def test_a_bad_demand_is_explained_and_changes_nothing(
    node: BareNode, gateway: GatewayDouble, more: tuple[str, ...], typed: str, sentence: str
) -> None:
    before = node.files()
    refused = setup(node, gateway, *more, typed=typed)
    assert (refused.returncode, node.files()) == (2, before), refused.stdout
    assert sentence in refused.stderr
    assert "iotide-agent:" not in node.read("/etc/passwd")


def test_a_node_without_scratch_has_to_name_a_directory(node: BareNode, gateway: GatewayDouble) -> None:
    (node.root / "scratch").rmdir()
    refused = node.run(PROGRAM, "setup", gateway.url, typed=TOKEN)
    assert refused.returncode == 2
    assert "this node has no /scratch; name a directory for runs" in refused.stderr


def test_a_server_that_refuses_or_is_away_leaves_nothing(node: BareNode, gateway: GatewayDouble) -> None:
    before = node.files()
    gateway.is_away = True
    refused = setup(node, gateway)
    assert (refused.returncode, node.files()) == (1, before)
    assert "the server does not answer" in refused.stderr


def test_setup_is_for_root(node: BareNode, gateway: GatewayDouble) -> None:
    ordinary = ("setpriv", "--reuid=65534", "--clear-groups", PROGRAM, "setup", gateway.url)
    refused = node.run(*ordinary, *SCRATCH, typed=TOKEN)
    assert refused.returncode == 2
    assert "run it as root, or with --dry-run" in refused.stderr
    assert node.run(*ordinary, *SCRATCH, "--dry-run").returncode == 0


def test_another_server_and_another_identity_need_a_decision(node: BareNode, gateway: GatewayDouble) -> None:
    setup(node, gateway)
    elsewhere = node.run(PROGRAM, "setup", "http://127.0.0.1:1", *SCRATCH, typed=TOKEN)
    assert elsewhere.returncode == 2
    assert f"/etc/iotide/agent.toml names {gateway.url}" in elsewhere.stderr
    (node.root / "etc/iotide/agent.toml").unlink()
    elsewhere = node.run(PROGRAM, "setup", "http://127.0.0.1:1", *SCRATCH, typed=TOKEN)
    assert f"of {gateway.url}; use --replace to enrol it elsewhere" in elsewhere.stderr
    gateway.token = "ion_second"
    replaced = setup(node, gateway, *SCRATCH, "--replace")
    assert replaced.returncode == 0, replaced.stderr
    assert json.loads(node.read("/var/lib/iotide-agent/identity.json"))["node_token"] == "ion_second"
    assert owner(node, "var/lib/iotide-agent/identity.json") == (0o600, "iotide-agent")


def test_an_agent_of_root_is_left_alone(node: BareNode, gateway: GatewayDouble) -> None:
    (node.root / "var/lib/iotide-agent/spool").mkdir(parents=True)
    refused = setup(node, gateway)
    assert refused.returncode == 2
    assert "/var/lib/iotide-agent was used by an agent that runs as root" in refused.stderr


def test_a_program_that_the_unit_could_not_start_is_refused(node: BareNode, gateway: GatewayDouble) -> None:
    closed = node.root / "opt/iotide-agent-1"
    closed.chmod(0o700)
    refused = setup(node, gateway)
    assert refused.returncode == 2
    assert "because /opt/iotide-agent is closed to it; install the agent where every user may read it" in refused.stderr


@pytest.mark.parametrize("is_link", [False, True])
def test_root_gives_away_nothing_that_another_user_placed_in_a_shared_directory(
    node: BareNode, gateway: GatewayDouble, *, is_link: bool
) -> None:
    (node.root / "scratch").chmod(0o1777)
    placed = node.root / "scratch/.iotide.iotide-new"
    if is_link:
        placed.symlink_to("/etc")
    else:
        placed.mkdir()
    os.chown(placed, 65534, 65534, follow_symlinks=False)
    refused = setup(node, gateway)
    assert refused.returncode == 2
    assert "/scratch/.iotide.iotide-new" in refused.stderr
    assert owner(node, "etc") == (0o755, "root")
    assert placed.lstat().st_uid == 65534
    placed.rename(node.root / "elsewhere")
    assert setup(node, gateway, typed="").returncode == 0
    assert owner(node, "scratch/iotide") == (0o700, "iotide-agent")


def test_a_full_disk_stops_setup_and_keeps_whole_files(node: BareNode, gateway: GatewayDouble) -> None:
    program = node.root / "opt/iotide-agent-1/bin/iotide-agent"
    whole = program.read_text()
    full = "import errno, os\ndef fsync(_):\n    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\n"
    limited = (
        f"{full}import iotide_wire.setup.changes as module\nmodule.os = type('os', (), dict(vars(os), fsync=fsync))\n"
    )
    program.write_text(whole.replace("\nstart_agent()\n", f"\n{limited}start_agent()\n"))
    stopped = setup(node, gateway)
    assert stopped.returncode == 2
    assert "No space left on device; correct this, then run setup again: it continues" in stopped.stderr
    assert list((node.root / "etc/iotide").iterdir()) == []
    program.write_text(whole)
    assert setup(node, gateway, typed="").returncode == 0


STAGES = (
    "iotide_agent.node.enrolment.save_identity",
    "iotide_agent.setup.service._create",
    "iotide_wire.setup.changes.write_whole",
)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_killed_setup_continues_when_it_is_repeated(
    node: BareNode, gateway: GatewayDouble, stage: str, moment: str
) -> None:
    node.pretend_systemd()
    module, _, function = stage.rpartition(".")
    program = node.root / "opt/iotide-agent-1/bin/iotide-agent"
    whole = program.read_text()
    program.write_text(killed_in(whole, "start_agent()", module, function, is_after=moment == "after"))
    assert setup(node, gateway).returncode in {-9, 137}
    program.write_text(whole)
    done = setup(node, gateway)
    assert done.returncode == 0, done.stderr
    assert setup(node, gateway, typed="").stdout.count("nothing to change") == 1
    assert owner(node, "var/lib/iotide-agent/identity.json") == (0o600, "iotide-agent")
    assert owner(node, "scratch/iotide") == (0o700, "iotide-agent")
    assert node.systemctl_calls()[-1] == "restart iotide-agent.service"
