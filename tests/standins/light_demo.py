"""`./dev demo` with idle processes as its server and agent; the demo's own code starts and ends them."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import demo
from local_stack import AS_USUAL, Launch, LocalStack

_WAITS: Final = """
import signal, sys, time
def end(*_):
    time.sleep(0.5)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
while True:
    signal.pause()
"""
"""Ends half a second after the request."""
_AGENT_NEVER_STARTS: Final = sys.argv.pop(1) == "agent never starts"


def waiting(name: str, directory: Path) -> "subprocess.Popen[bytes]":
    """Start a process that can be found by its name and its directory."""
    directory.mkdir(parents=True, exist_ok=True)
    with directory.with_suffix(".log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", _WAITS, f"{name} {directory}"], stdout=log, stderr=log, start_new_session=True
        )


class LightStack(LocalStack):
    """A stack without a server."""

    def start_server(self) -> None:
        self._server = waiting("iotide-server up", self.directory / "server")

    def sign_in(self) -> None:
        self.token = "of-nobody"

    def admin_link(self) -> str:
        return f"{self.url}/login"

    def add_cluster(self, name: str) -> int:
        return len(name)

    def enrol(
        self, cluster_id: int, name: str, directories: Sequence[Path], *, launch: Launch = AS_USUAL, uses: int = 1
    ) -> Path:
        for directory in directories:
            directory.mkdir(exist_ok=True)
        return self.directory / f"{launch.configuration}{name}-{cluster_id}-{uses}"

    @staticmethod
    def run_agent(home: Path, environment: Mapping[str, str], within: Sequence[str] = ()) -> "subprocess.Popen[bytes]":
        assert not environment
        assert not within
        return waiting("iotide-agent run", home)

    def _online_node(self, cluster_id: int, name: str) -> dict[str, Any] | None:
        return None if _AGENT_NEVER_STARTS else {"id": cluster_id, "name": name}

    def add_target(self, cluster_id: int, name: str, path: Path, nodes: Sequence[int]) -> int:
        assert path.is_dir(), name
        return cluster_id + len(nodes)


def main() -> int:
    """Run the demo on a light stack with a campaign that ends at once."""
    ended = {"id": 1, "counts": {"finished": 2, "failed": 0}}
    stand_ins = {"LocalStack": LightStack, "run_campaign": lambda *_: ended}
    nothing = dict.fromkeys(("show_results", "show_series", "load_published"), lambda *_: None)
    for name, stand_in in {**stand_ins, **nothing}.items():
        setattr(demo, name, stand_in)
    return demo.main()


if __name__ == "__main__":
    sys.exit(main())
