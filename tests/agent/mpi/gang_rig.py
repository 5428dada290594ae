"""Gang of two nodes on this machine, at two addresses of its loopback interface, with a real MPICH."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iotide_agent import __file__ as agent_package
from iotide_agent.runner import processes
from iotide_wire import __file__ as wire_package

NODE = Path(__file__).with_name("gang_node.py")
PACKAGES = [str(Path(package).parents[1]) for package in (agent_package, wire_package)]
SCRIPTS = Path(sysconfig.get_path("scripts"))
PROXY = str(SCRIPTS / "hydra_pmi_proxy")
HEAD, MEMBER = "127.0.0.1", "127.0.0.2"


class GangNode:
    """Process of one node."""

    def __init__(self, directory: Path, **wanted: object) -> None:
        self.directory = directory
        directory.mkdir()
        (directory / "wanted.json").write_text(json.dumps(wanted))
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(NODE), str(directory / "wanted.json"), *PACKAGES],
            stdout=subprocess.PIPE,
            text=True,
        )

    def said(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        words: dict[str, Any] = json.loads(self.process.stdout.readline())
        return words

    def ended(self) -> dict[str, Any]:
        """Return its ending, once it has ended."""
        words = self.said()
        self.process.wait(30)
        return words

    def output(self, name: str) -> str:
        file = self.directory / "out" / name
        return file.read_text() if file.exists() else ""

    def close(self) -> None:
        """End the node and all that it started."""
        started = [stat.pid for stat in processes.descendants(self.process.pid)]
        self.process.kill()
        processes.send(signal.SIGKILL, started)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


class Gang:
    """Head and member of one run."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.token = os.urandom(16).hex()
        self._common = {"token": self.token, "kind": "mpich", "interface": "lo"}
        self._nodes: list[GangNode] = []

    def member(self, **changes: object) -> GangNode:
        wanted: dict[str, object] = {
            "address": MEMBER,
            "programs": [PROXY],
            "head_names": [HEAD],
            **self._common,
            **changes,
        }
        return self._node("member", **wanted)

    def head(self, port: int, program: Sequence[str], **changes: object) -> GangNode:
        wanted: dict[str, object] = {
            "address": HEAD,
            "members": [["n2", MEMBER, port]],
            "launcher": [str(SCRIPTS / "mpiexec.hydra")],
            "tasks_per_node": 2,
            "program": list(program),
        }
        return self._node("head", **{**wanted, **self._common, **changes})

    def close(self) -> None:
        for node in self._nodes:
            node.close()

    def _node(self, role: str, **wanted: object) -> GangNode:
        node = GangNode(self.base / f"{role}-{len(self._nodes)}", role=role, **wanted)
        self._nodes.append(node)
        return node
