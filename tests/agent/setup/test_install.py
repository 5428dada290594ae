"""`install.sh` of a bundle: on hosts without a fitting Python, and after it was killed."""

import hashlib
import os
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from bare_node import TOP, BareNode
from handing_out import write_bundle

PREFIX = "/site/agent"
ROOM = "mount -t tmpfs -o size=200k,mode=755 tmpfs /site"
KILLS_ITS_INSTALLER = "#!/bin/sh\nkill -9 $PPID\n"
SENTENCE = "this node has no Python 3.98 or 3.99: install one"


@pytest.mark.parametrize(
    ("archs", "sentence"),
    [(os.uname().machine, SENTENCE), ("m68k", f"this node is {os.uname().machine} but the bundle is for m68k")],
)
def test_a_node_that_the_bundle_does_not_fit_is_left_alone(tmp_path: Path, archs: str, sentence: str) -> None:
    node = BareNode(tmp_path / "node", has_agent=False)
    tree = node.root / "opt/unpacked"
    tree.mkdir()
    texts = {"archs": f"{archs}\n", "pythons": "3.98\n3.99\n", "version": "1\n"}
    for name, text in texts.items():
        (tree / name).write_text(text)
    sums = (f"{hashlib.sha256(text.encode()).hexdigest()}  ./{name}\n" for name, text in texts.items())
    (tree / "SHA256SUMS").write_text("".join(sums))
    shutil.copy(TOP / "deploy/offline/install.sh", tree)
    before = node.files()
    refused = node.run("/opt/unpacked/install.sh")
    assert (refused.returncode, node.files()) == (2, before)
    assert sentence in refused.stderr


def test_what_a_killed_installation_left_is_removed(tmp_path: Path) -> None:
    node = BareNode(tmp_path / "node", has_agent=False)
    write_bundle(tmp_path / "agent.tar")
    with tarfile.open(tmp_path / "agent.tar") as tar:
        tar.extractall(node.root / "opt/unpacked", filter="data")
    left = node.root / "opt/iotide-agent-9.9.9-LEFTXX"
    (left / "bin").mkdir(parents=True)
    (node.root / "opt/iotide-agent.new").symlink_to(left.name)
    (node.root / "var/log").mkdir()
    done = node.run("/opt/unpacked/iotide-agent-9.9.9/install.sh")
    assert done.returncode == 0, done.stderr
    (installed,) = (node.root / "opt").glob("iotide-agent-*")
    assert installed != left
    assert Path((node.root / "opt/iotide-agent").readlink()).name == installed.name
    assert not (node.root / "opt/iotide-agent.new").is_symlink()


def unpack_bundle(node: BareNode, tmp_path: Path, name: str, more: Mapping[str, str]) -> str:
    """Unpack a bundle on the node, and return its installer there."""
    write_bundle(tmp_path / "agent.tar", more)
    with tarfile.open(tmp_path / "agent.tar") as tar:
        tar.extractall(node.root / f"opt/{name}", filter="data")
    return f"/opt/{name}/iotide-agent-9.9.9/install.sh"


def test_a_full_disk_in_the_middle_of_an_upgrade_keeps_the_previous_version(tmp_path: Path) -> None:
    node = BareNode(tmp_path / "node", has_agent=False)
    for directory in ("site", "var/log"):
        (node.root / directory).mkdir()
    first = unpack_bundle(node, tmp_path, "first", {"label": "first\n"})
    large = unpack_bundle(node, tmp_path, "large", {"label": "x" * 300_000})
    after = f"cat {PREFIX}/label; {PREFIX}/bin/iotide-agent --help >/dev/null && echo runs; ls /site"
    done = node.run("sh", "-c", f"{ROOM}; {first} --prefix {PREFIX}; {large} --prefix {PREFIX} || echo failed; {after}")
    assert "No space left on device" in done.stderr
    _, failed, label, runs, *names = done.stdout.splitlines()
    assert (failed, label, runs) == ("failed", "first", "runs")
    assert [name.partition("-")[0] for name in names] == ["agent", "agent"]  # the link and its target


def test_an_upgrade_that_was_killed_keeps_the_previous_version_and_continues(tmp_path: Path) -> None:
    node = BareNode(tmp_path / "node", has_agent=False)
    (node.root / "var/log").mkdir()
    first = unpack_bundle(node, tmp_path, "first", {"label": "first\n"})
    assert node.run(first).returncode == 0
    upgrade = unpack_bundle(node, tmp_path, "second", {"label": "second\n"})
    program = node.root / "opt/second/iotide-agent-9.9.9/bin/iotide-agent"
    whole, sums = program.read_bytes(), program.parents[1] / "SHA256SUMS"
    program.write_text(KILLS_ITS_INSTALLER)
    of_whole = sums.read_text()
    digest, killing = (hashlib.sha256(content).hexdigest() for content in (whole, KILLS_ITS_INSTALLER.encode()))
    sums.write_text(of_whole.replace(f"{digest}  ./bin/iotide-agent\n", f"{killing}  ./bin/iotide-agent\n"))
    assert node.run(upgrade).returncode in {-9, 137}
    assert node.run("cat", "/opt/iotide-agent/label").stdout == "first\n"
    assert node.run("/opt/iotide-agent/bin/iotide-agent", "--help").returncode == 0
    program.write_bytes(whole)
    sums.write_text(of_whole)
    done = node.run(upgrade)
    assert done.returncode == 0, done.stderr
    assert node.run("cat", "/opt/iotide-agent/label").stdout == "second\n"
    assert len(list((node.root / "opt").glob("iotide-agent-*"))) == 2  # this version and the previous one
