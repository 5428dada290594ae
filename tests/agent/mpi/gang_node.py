"""Node of a gang for tests: the process of a head or a member, with the product's own modules and without a server.

Arguments: a JSON file. A member prints its port once it listens; both print their ending as JSON.
"""

import json
import os
import signal
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path += sys.argv[2:]

from iotide_agent.mpi.addresses import MemberAddress
from iotide_agent.mpi.head import Head, write_remote_start
from iotide_agent.mpi.launchers import OWN_PART, Launch, LauncherKind, PortRange, command_of, settings_of
from iotide_agent.mpi.member import Gathering, Member
from iotide_agent.mpi.remote_commands import Allowance
from iotide_agent.mpi.remote_start import SOCKET
from iotide_agent.mpi.steps import MemberStep, run_member_step
from iotide_agent.runner import processes
from iotide_agent.runner.card import StepCard
from iotide_agent.runner.endings import RunEndedError
from iotide_agent.runner.groups import Groups
from iotide_agent.runner.load import Load, Surroundings
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.sampler import Sampler
from iotide_agent.runner.sockets import Sockets

LIMIT_SECONDS = 60.0
PATIENCE_SECONDS = 5.0
PORTS = PortRange(46_000, 46_199)


def say(**words: object) -> None:
    print(json.dumps(words), flush=True)  # noqa: T201 - read by the test


def surroundings(directory: Path, wanted: dict[str, Any], **more: str) -> Surroundings:
    scratch, output = directory / "scratch", directory / "out"
    for made in (scratch, output):
        made.mkdir()
    environment = {
        "PATH": os.defpath,
        "LC_ALL": "C",
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        **settings_of(LauncherKind(wanted["kind"]), wanted["interface"], PORTS),
        **wanted.get("environment", {}),
        **more,
    }
    return Surroundings(scratch, output, 1024**2, PATIENCE_SECONDS, (), environment, Sockets())


def step(argv: Sequence[str]) -> StepCard:
    return StepCard("mpi", tuple(argv), "none", (), signal.SIGKILL)


def check() -> None:
    """End the run as the runner would: here nothing else ends it."""


def be_member(loop: Loop, directory: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    around = surroundings(directory, wanted)
    allowance = Allowance(tuple(wanted["programs"]), tuple(wanted["head_names"]))
    member = Member(loop, Gathering(wanted["address"], wanted["token"], allowance))
    say(port=member.gate.port)

    def start(argv: Sequence[str]) -> Load:
        return Load(step(argv), "none", len(member.loads), around, 0.0)

    until = processes.boottime() + LIMIT_SECONDS
    try:
        run_member_step(loop, member, MemberStep(0, start, until, PATIENCE_SECONDS), check)
        records = [load.close() for load in member.ended]
        ending: dict[str, Any] = {"code": None, "statuses": [record["exit_status"] for record in records]}
    except RunEndedError as error:
        ending = {"code": error.code, "reason": str(error)}
    finally:
        member.close()
    return ending | {"refused": member.refused, "strangers": member.gate.refused, "left_over": member.left_over}


def be_head(loop: Loop, directory: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    scratch = directory / "scratch"
    around = surroundings(directory, wanted, **{SOCKET: str(scratch / "remote-start.socket")})
    members = [MemberAddress(node, address, port, wanted["token"]) for node, address, port in wanted["members"]]
    head = Head(loop, members, scratch)
    launch = Launch(
        LauncherKind(wanted["kind"]),
        wanted["launcher"],
        (wanted["address"], *(member.address for member in members)),
        wanted["tasks_per_node"],
        str(write_remote_start(scratch, ())),
        wanted["interface"],
        PORTS,
    )
    groups = Groups(
        loop,
        around,
        partial(Sampler, directory / "curve.jsonl", ()),
        check=head.check,
        note=lambda loads: head.watch_launcher(loads[0].pid, OWN_PART.get(launch.kind, "")),
    )
    ending: dict[str, Any] = {"code": None}
    try:
        head.gather(processes.boottime() + wanted.get("gather_seconds", 10.0), check)
        head.begin_step(0)
        now = processes.boottime()
        groups.run_first([step(command_of(launch, wanted["program"]))], ["none"], now + LIMIT_SECONDS, now)
        head.end_step(check)
    except RunEndedError as error:
        ending = {"code": error.code, "reason": str(error)}
    finally:
        head.close()
        groups.finish()
    status = groups.records[0]["exit_status"] if groups.records else None
    return ending | {"status": status, "left_over": head.left_over, "refused": head.refused}


def main() -> None:
    wanted = json.loads(Path(sys.argv[1]).read_text())
    processes.become_subreaper()
    directory = Path(sys.argv[1]).parent
    node = be_head if wanted["role"] == "head" else be_member
    say(**node(Loop(), directory, wanted))


if __name__ == "__main__":
    main()
