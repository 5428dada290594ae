"""Living processes of runs of one program, by the attempt in their environment."""

from contextlib import suppress
from pathlib import Path

from iotide_agent.runner import processes
from iotide_agent.runner.card import ATTEMPT


def attempt_of(pid: int) -> str:
    """Return the attempt of a process, or nothing; raise OSError if it is gone."""
    for word in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
        name, _, value = word.partition(b"=")
        if name == ATTEMPT.encode():
            return value.decode(errors="replace")
    return ""


def living_of(run_id: int) -> list[str]:
    """Return the names of the run's living processes on this machine."""
    found = []
    for pid in processes.all_pids():
        with suppress(OSError):
            stat = processes.stat_of(pid)
            if stat is not None and stat.state not in "ZX" and attempt_of(pid).startswith(f"{run_id}-"):
                found.append(stat.name)
    return found
