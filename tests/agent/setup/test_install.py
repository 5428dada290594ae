"""`install.sh` of a bundle: on hosts without a fitting Python, and after it was killed."""

import hashlib
import os
import shutil
import tarfile
from pathlib import Path

import pytest
from bare_node import TOP, BareNode
from handing_out import write_bundle

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
