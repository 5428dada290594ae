"""Real Slurm from this machine's packages: munged, slurmctld and some slurmd below one directory, as root."""

import os
import secrets
import shutil
import signal
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from bring_up import StackError, free_port, wait_for

NODES = ("n1", "n2")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scancel", "scontrol", "srun")
CONFIGURATION = """\
ClusterName=iotide-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={base}/munge.socket
StateSaveLocation={base}/state
SlurmctldPidFile={base}/slurmctld.pid
SlurmctldLogFile={base}/slurmctld.log
SlurmdPidFile={base}/slurmd-%n.pid
SlurmdLogFile={base}/slurmd-%n.log
SlurmdSpoolDir={base}/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/linear
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=15
MinJobAge=300
MailProg=/bin/true
{nodes}
PartitionName=bench Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """Return the missing programs."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


class RealSlurm:
    """The daemons, children of this process; they end with the `with` block."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.config = base / "slurm.conf"
        self._children: list[subprocess.Popen[bytes]] = []

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which Slurm's commands find it."""
        return {"SLURM_CONF": str(self.config)}

    def __enter__(self) -> Self:
        try:
            self._write()
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def ask(self, *argv: str, check: bool = True) -> str:
        """Return the output of a Slurm command."""
        environment = {**os.environ, **self.environment}
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60, check=False)
        if check and done.returncode:
            raise StackError(f"{' '.join(argv)}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def job_state(self, job_id: str) -> str:
        """Return the state of a job, as squeue shows it."""
        printed = self.ask("squeue", "--noheader", "--states=all", f"--jobs={job_id}", "--format=%T", check=False)
        return printed.strip()

    def jobs(self) -> list[tuple[str, str]]:
        """Return number and name of every job that it remembers."""
        lines = self.ask("squeue", "--noheader", "--states=all", "--format=%i|%j").splitlines()
        return [(number, name) for number, _, name in (line.partition("|") for line in lines)]

    def stop(self) -> None:
        """End the jobs, then the daemons; kill what does not end."""
        if self.config.exists() and self._children:
            self.ask("scancel", "--user=root", "--signal=KILL", "--full", check=False)
        for child in reversed(self._children):
            child.terminate()
        for child in reversed(self._children):
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        self._children.clear()

    def _write(self) -> None:
        key = self.base / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        host = os.uname().nodename
        lines = [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs=1 State=UNKNOWN"
            for name in NODES
        ]
        text = CONFIGURATION.format(host=host, port=free_port(), base=self.base, nodes="\n".join(lines))
        self.config.write_text(text)
        (self.base / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        (self.base / "state").mkdir()
        for name in NODES:
            (self.base / f"spool-{name}").mkdir()

    def _start(self) -> None:
        base = self.base
        own = [f"--{name}={base}/munge.{name.removesuffix('-file')}" for name in ("pid-file", "log-file", "seed-file")]
        where = (f"--key-file={base}/munge.key", f"--socket={base}/munge.socket")
        self._run("munged", "--foreground", "--force", *where, *own)
        wait_for("munge", lambda: True if (base / "munge.socket").exists() else None, seconds=20)
        self._run("slurmctld", "-D", "-i", "-f", str(self.config))
        for name in NODES:
            self._run("slurmd", "-D", "-N", name, "-f", str(self.config))
        wait_for("Slurm's nodes", self._all_idle, seconds=60, pause_seconds=0.5)

    def _run(self, *argv: str) -> None:
        environment = {**os.environ, **self.environment}
        with (self.base / f"{argv[0]}.out").open("ab") as log:
            child = subprocess.Popen(argv, stdout=log, stderr=log, env=environment, start_new_session=True)
        self._children.append(child)

    def _all_idle(self) -> bool | None:
        ended = next((child for child in self._children if child.poll() is not None), None)
        if ended is not None:
            raise StackError(f"{ended.args!r} ended with {ended.returncode}:\n{self._logs()}")
        states = self.ask("sinfo", "--noheader", "--Node", "--format=%T", check=False).split()
        return True if states == ["idle"] * len(NODES) else None

    def _logs(self) -> str:
        logs = sorted([*self.base.glob("*.log"), *self.base.glob("*.out")])
        return "\n".join(f"{log.name}: {log.read_text(errors='replace')[-2000:]}" for log in logs)
