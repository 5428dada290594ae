"""`./dev test-mpi`: one MPI program over four hosts, then kills at random moments; nothing may live on.

The last line has jobs, kills, orphans, wrong totals, and the time until eight ranks left their first barrier.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from mpi.hosts import INTERFACE, Host, hosts

from iotide_agent.runner import processes
from iotide_agent.runner.card import ATTEMPT

SOURCE: Final = Path(__file__).parents[1] / "agent/mpi/writes_by_rank.c"
HOSTS: Final = 4
TASKS_PER_NODE: Final = 2
BLOCKS: Final = 64
BLOCK_BYTES: Final = 65_536
GONE_SECONDS: Final = 3.0
END_SECONDS: Final = 40.0
VICTIMS: Final = ("rank", "part", "launcher", "remote_start", "runner")
_NAMES: Final = {
    "rank": {"writes_by_rank"},
    "part": {"hydra_pmi_proxy", "prted"},
    "launcher": {"mpiexec.hydra", "mpirun", "prterun"},
    "remote_start": {"remote-start"},
}


class Mpi(NamedTuple):
    """An installed MPI and the program that its compiler made."""

    kind: str
    launcher: str
    part: str
    program: str
    environment: dict[str, str]


class Tally:
    jobs = kills = orphans = wrong_totals = unreported = 0
    seconds_to_end: float = 0.0


class Job:
    """A run over all hosts."""

    def __init__(self, base: Path, all_hosts: list[Host], mpi: Mpi, number: int, *, waits: bool) -> None:
        self.mpi = mpi
        self.attempt = f"{number}-{random.getrandbits(48)}"
        self.file = base / f"shared-{number}"
        self.directory = base / str(number)
        head, *members = all_hosts
        common = {
            "token": f"{number:032x}",
            "kind": mpi.kind,
            "interface": INTERFACE,
            "environment": {**mpi.environment, ATTEMPT: self.attempt},
        }
        self.members = [
            host.start(
                self.directory / host.name,
                role="member",
                address=host.address,
                programs=[mpi.part],
                head_names=[head.address],
                **common,
            )
            for host in members
        ]
        found = [
            [host.name, host.address, json.loads(_line(member))["port"]]
            for host, member in zip(members, self.members, strict=True)
        ]
        self.started_at = time.monotonic()
        self.head = head.start(
            self.directory / head.name,
            role="head",
            address=head.address,
            members=found,
            launcher=[mpi.launcher],
            tasks_per_node=TASKS_PER_NODE,
            program=[mpi.program, str(self.file), str(BLOCKS), *(["wait"] if waits else [])],
            **common,
        )

    @property
    def nodes(self) -> list["subprocess.Popen[str]"]:
        return [self.head, *self.members]

    def all_alive(self) -> list[processes.Stat]:
        """Return all processes of the run but its runners."""
        return processes.with_variable(f"{ATTEMPT}={self.attempt}", {0})

    def endings(self) -> list[dict[str, object] | None]:
        """Return the endings, after all runners have ended; None for a killed one."""
        found: list[dict[str, object] | None] = []
        for node in self.nodes:
            with suppress(subprocess.TimeoutExpired):
                node.wait(END_SECONDS)
            node.kill()
            text = _line(node)
            found.append(json.loads(text) if text else None)
            if node.stdout is not None:
                node.stdout.close()
        return found

    def output(self) -> str:
        return (self.directory / "n1/out/000-mpi.stdout").read_text()

    def expected(self) -> bytes:
        ranks = HOSTS * TASKS_PER_NODE
        numbers = ((rank, number) for number in range(BLOCKS) for rank in range(ranks))
        return b"".join(bytes([ord("a") + (7 * rank + number) % 26]) * BLOCK_BYTES for rank, number in numbers)


def _line(node: "subprocess.Popen[str]") -> str:
    return node.stdout.readline() if node.stdout is not None else ""


def run_whole(job: Job, tally: Tally) -> None:
    tally.jobs += 1
    head, *members = job.endings()
    tally.seconds_to_end = max(tally.seconds_to_end, time.monotonic() - job.started_at)
    ranks = HOSTS * TASKS_PER_NODE
    said = job.output() if head else ""
    is_whole = (
        said == f"ranks={ranks} bytes={ranks * BLOCKS * BLOCK_BYTES}\n" and job.file.read_bytes() == job.expected()
    )
    if not is_whole or not head or head["code"] is not None or any(one is None or one["code"] for one in members):
        tally.wrong_totals += 1
        show(job, f"head={head} members={members} said={said!r}")
    tally.orphans += len(job.all_alive())


def run_killed(job: Job, victim: str, source: random.Random, tally: Tally) -> None:
    """Kill one process of the run at a random moment, and count what is alive after the limit."""
    time.sleep(source.uniform(0.05, 1.5))
    until = time.monotonic() + END_SECONDS
    while not (found := list(candidates(job, victim))) and time.monotonic() < until:
        time.sleep(0.01)
    tally.kills += bool(found)
    killed = source.choice(found) if found else None
    if killed is not None:
        with suppress(ProcessLookupError):
            processes.send(signal.SIGKILL, [killed])
    if victim == "runner" and killed is not None:
        # The aftermath of that node, which the agent starts as soon as the runner is gone.
        time.sleep(0.2)
        processes.send(signal.SIGKILL, [stat.pid for stat in job.all_alive() if stat.parent == os.getpid()])
    until = time.monotonic() + GONE_SECONDS
    while killed is not None and job.all_alive() and time.monotonic() < until:
        time.sleep(0.02)
    left = job.all_alive() if killed is not None else []
    tally.orphans += len(left)
    for node in job.nodes if killed is None or left else ():
        node.kill()
    processes.send(signal.SIGKILL, [stat.pid for stat in job.all_alive()])
    endings = job.endings()
    is_success = endings[0] is not None and (endings[0]["code"], endings[0]["status"]) == (None, 0)
    tally.unreported += killed is not None and is_success
    if left or (killed is not None and is_success):
        show(job, f"victim={victim} left={left} endings={endings}")
    job.file.unlink(missing_ok=True)


def candidates(job: Job, victim: str) -> Iterator[int]:
    if victim == "runner":
        yield from (node.pid for node in job.nodes)
    else:
        yield from (stat.pid for stat in job.all_alive() if stat.name in _NAMES[victim])


def show(job: Job, line: str) -> None:
    sys.stdout.write(f"mpi: {job.mpi.kind} {line}\n")
    for file in sorted(job.directory.glob("*/out/*.std*")):
        text = file.read_text(errors="replace")[-400:]
        sys.stdout.write(f"  {file.parent.parent.name} {file.name}: {text!r}\n" if text else "")


def installed(base: Path, open_mpi: Path) -> list[Mpi]:
    scripts = Path(sysconfig.get_path("scripts"))
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    found = []
    for kind, directory, launcher, part, environment in (
        ("mpich", scripts, "mpiexec.hydra", "hydra_pmi_proxy", {}),
        ("openmpi-5", open_mpi.absolute(), "mpirun", "prted", as_root),
    ):
        program = base / kind / "writes_by_rank"
        program.parent.mkdir()
        subprocess.run([directory / "mpicc", "-O2", "-o", program, SOURCE], check=True)
        found.append(Mpi(kind, str(directory / launcher), str(directory / part), str(program), environment))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--openmpi", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=36)
    asked = parser.parse_args()
    source, tally = random.Random(asked.seed), Tally()  # noqa: S311 - repeatable
    processes.become_subreaper()
    with tempfile.TemporaryDirectory(prefix="iomp-") as name, hosts(HOSTS) as all_hosts:
        base = Path(name)
        both = installed(base, asked.openmpi)
        for number, mpi in enumerate(both):
            run_whole(Job(base, all_hosts, mpi, number, waits=False), tally)
        for number in range(asked.kills):
            mpi = both[number % 2]
            victim = VICTIMS[number // 2 % len(VICTIMS)]
            run_killed(Job(base, all_hosts, mpi, 100 + number, waits=True), victim, source, tally)
    sys.stdout.write(
        f"mpi: jobs={tally.jobs} kills={tally.kills} orphans={tally.orphans} wrong_totals={tally.wrong_totals} "
        f"unreported={tally.unreported} seconds_to_end_8={tally.seconds_to_end:.2f} seed={asked.seed}\n"
    )
    return int(bool(tally.orphans or tally.wrong_totals or tally.unreported))


if __name__ == "__main__":
    sys.exit(main())
