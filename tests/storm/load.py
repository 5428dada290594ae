"""Load of the storm: holds kernel locks on its node and its target while it runs, and logs other loads that it finds.

    load.py LOG NODE NODE_LOCK LOCKS MODE DIRECTORY SHORTEST LONGEST

The locks are the evidence. A load that finds its node's lock taken ran in parallel to another. On its target each
load has its own lock, named after its run and whether that run is exclusive. A load that finds a lock of another run
there, if either of the two is exclusive, has found a violation. The kernel frees locks with the last process that has
them, so a killed load counts as gone exactly when it is. Each line is one JSON object.
"""

import fcntl
import json
import os
import random
import sys
import time
from typing import TextIO


def main() -> None:
    """Run, and print a number as any program of a site does."""
    log, node, node_lock, locks, mode, directory, shortest, longest = sys.argv[1:]
    target = os.path.basename(os.path.dirname(directory))
    run, attempt, order = map(int, os.path.basename(directory).removeprefix("iotide-run-").split("-"))
    on_node, is_node_free = _locked(node_lock, fcntl.LOCK_EX)
    on_target, is_target_free = _on_target(os.path.join(locks, target), run, order, mode)
    about = {"run": run, "attempt": attempt, "order": order, "node": node, "target": target, "mode": mode}
    _write(log, {"event": "start", **about, "is_node_free": is_node_free, "is_target_free": is_target_free})
    with open(os.path.join(directory, "data"), "wb") as data:
        data.write(os.urandom(65_536))
    # A gang's loads last equally long on every node; seeded by the run, so that a seed repeats the storm.
    time.sleep(random.Random(run).uniform(float(shortest), float(longest)))
    _write(log, {"event": "end", **about})
    print(json.dumps({"rate": 1.0}))
    for held in (on_node, on_target):
        held.close()


def _on_target(directory: str, run: int, order: int, mode: str) -> tuple[TextIO, bool]:
    """Return the load's own lock, and whether another run's lock forbids it; of two concurrent loads the later one sees
    it.
    """
    os.makedirs(directory, exist_ok=True)
    own = f"{run}-{order}-{mode}"
    file, _ = _locked(os.path.join(directory, own), fcntl.LOCK_EX)
    for name in os.listdir(directory):
        other_run, _, other_mode = name.split("-")
        if int(other_run) != run and "exclusive" in {mode, other_mode}:
            other, is_gone = _locked(os.path.join(directory, name), fcntl.LOCK_SH)
            other.close()
            if not is_gone:
                return file, False
    return file, True


def _locked(path: str, mode: int) -> tuple[TextIO, bool]:
    """Return the open file, locked unless another process holds a conflicting lock."""
    file = open(path, "a")
    try:
        fcntl.flock(file, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return file, False
    return file, True


def _write(log: str, event: dict[str, object]) -> None:
    line = json.dumps({"at": time.clock_gettime(time.CLOCK_MONOTONIC), **event}) + "\n"
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(descriptor, line.encode())
    os.close(descriptor)


if __name__ == "__main__":
    main()
