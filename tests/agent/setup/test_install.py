"""`install.sh` of a bundle that brings no Python, on hosts without a fitting one."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest
from bare_node import TOP, BareNode

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
