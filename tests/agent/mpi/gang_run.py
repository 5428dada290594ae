"""Head and member of one run as two real runners, started as an executor starts them; the test is the server."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent.mpi.gang_rig import HEAD, MEMBER, PROXY, SCRIPTS
from agent.order_rig import Rig, target_card

from iotide_agent.mpi.addresses import MemberAddress, write_members
from iotide_agent.mpi.launchers import LauncherKind, PortRange, settings_of
from iotide_agent.runner import GANG, processes
from iotide_agent.runner.card import ATTEMPT, GangCard, StepCard

NODES = (("n1", HEAD), ("n2", MEMBER))
DIRECTORY_NAME = "iotide-run-100-1-7"
PORTS = PortRange(46_000, 46_199)
FENCE = 70


class GangRun:
    """Two runners over one directory.

    Attributes:
        place: the run's own directory on the target.
    """

    def __init__(self, base: Path, **changes: dict[str, Any]) -> None:
        """`changes` of the cards by node: `head` and `member`."""
        self.base = base
        self.shared = base / "shared"
        self.shared.mkdir(mode=0o700, parents=True)
        self.place = self.shared / DIRECTORY_NAME
        self.attempt = f"{os.getpid()}-{id(self)}"
        self.head = self._rig("head", HEAD, 7, changes.get("head", {}))
        self.member = self._rig("member", MEMBER, 8, changes.get("member", {}))

    @property
    def rigs(self) -> tuple[Rig, Rig]:
        return self.head, self.member

    def prepare(self) -> None:
        """Start both runners and pass the member's endpoint to the head, as the server does with the start signal."""
        for rig in self.rigs:
            rig.start(GANG)
        for rig in self.rigs:
            rig.until_phase("ready")
        phase = self.member.phase()
        self.pass_endpoint(phase["token"])

    def pass_endpoint(self, token: str) -> None:
        write_members(self.head.directory, [MemberAddress("n2", MEMBER, self.member.phase()["ports"][0], token)])

    def go(self, *groups: Sequence[StepCard]) -> None:
        """Give both nodes the start signal."""
        for rig in self.rigs:
            rig.go(*groups)

    def run(self, *groups: Sequence[StepCard]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the ends of head and member."""
        self.prepare()
        self.go(*groups)
        return self.head.until_ended(), self.member.until_ended()

    def alive(self) -> list[processes.Stat]:
        """Return what lives of the loads of both nodes."""
        return [
            stat
            for node in ("head", "member")
            for stat in processes.with_variable(f"{ATTEMPT}={self.attempt}-{node}", {os.getuid()})
        ]

    def close(self) -> None:
        for rig in self.rigs:
            rig.close()
        processes.send(signal.SIGKILL, [stat.pid for stat in self.alive()])

    def _rig(self, node: str, address: str, order_id: int, changes: dict[str, Any]) -> Rig:
        is_head = address == HEAD
        gang = GangCard(
            order_id=7,
            nodes=NODES,
            address=address,
            kind="mpich",
            launcher=(str(SCRIPTS / "mpiexec.hydra"),),
            interface="lo",
            ports=(PORTS.first, PORTS.last),
            programs=(PROXY,),
            tasks_per_node=2,
        )
        card: dict[str, Any] = {
            "order_id": order_id,
            "fence": FENCE,
            "directory_name": DIRECTORY_NAME,
            "targets": (target_card(self.shared, writes=is_head, shared=not is_head),),
            "approved": (str(self.shared),),
            "environment": {"PATH": os.defpath, "LC_ALL": "C", **settings_of(LauncherKind.MPICH, "lo", PORTS)},
            # On real nodes it is the same; here each node must end its own processes.
            "attempt": f"{self.attempt}-{node}",
            "listen_address": address,
            "gang": gang._replace(**changes.pop("gang", {})),
            **changes,
        }
        return Rig(self.base / node, **card)
