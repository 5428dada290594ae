"""Replaces LSF on one host: bsub, bjobs, bhosts and bkill, by the name of the called program.

Its words are those of IBM's pages for LSF 10.1. Jobs are directories below $STANDIN_LSF, which may hold a file
`hold`: then no job starts, and bjobs shows why. A job is a process group of its own.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ["STANDIN_LSF"])
OPTIONS_WITH_VALUE = {"-n", "-R", "-m", "-W", "-J", "-o", "-cwd", "-q"}
JOB = """\
cd "$1" && shift
while [ -e ../hold ]; do sleep 0.1; done
[ -e end ] && exit 0
echo $$ >pid
"$@" >>output 2>&1
status=$?
[ -e end ] || echo "$status" >end
"""


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def bsub(arguments: list[str]) -> None:
    options: dict[str, str] = {}
    while arguments[0].startswith("-"):
        option = arguments.pop(0)
        options[option] = arguments.pop(0) if option in OPTIONS_WITH_VALUE else ""
    if not {"-x", "-rn", "-W"} <= options.keys() or options["-R"] != "span[ptile=1]":
        sys.exit("bsub: not as iotide is to submit")
    number = 1 + sum(1 for path in ROOT.iterdir() if path.is_dir())
    directory = ROOT / str(number)
    directory.mkdir()
    (directory / "job.json").write_text(json.dumps({"name": options["-J"], "hosts": options["-m"]}))
    subprocess.Popen(
        ["/bin/sh", "-c", JOB, "job", str(directory), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _say(f"Job <{number}> is submitted to default queue <normal>.")


def bjobs(_arguments: list[str]) -> None:
    directories = sorted((path for path in ROOT.iterdir() if path.is_dir()), key=lambda path: int(path.name))
    if not directories:
        sys.stderr.write("No job found\n")
        sys.exit(255)
    for directory in directories:
        name = json.loads((directory / "job.json").read_text())["name"]
        stat, exit_reason, pend_reason = "PEND", "-", "New job is waiting for scheduling;"
        if (directory / "end").exists():
            end = (directory / "end").read_text().strip()
            stat = "DONE" if end == "0" else "EXIT"
            exit_reason = "TERM_OWNER: job killed by owner" if end == "killed" else "-"
            pend_reason = "-"
        elif (directory / "pid").exists():
            stat, pend_reason = "RUN", "-"
        _say(f"{directory.name}^{stat}^{name}^{exit_reason}^{pend_reason}")


def bhosts(_arguments: list[str]) -> None:
    _say("HOST_NAME          STATUS       JL/U    MAX  NJOBS   RUN  SSUSP  USUSP   RSV")
    for host in os.environ["STANDIN_LSF_HOSTS"].split():
        _say(f"{host}              ok              -      2      0     0      0      0     0")


def bkill(arguments: list[str]) -> None:
    directory = ROOT / arguments[0]
    (directory / "end").write_text("killed")
    if (directory / "pid").exists():
        group = int((directory / "pid").read_text())
        for pid in [int(path.name) for path in Path("/proc").glob("[0-9]*")]:
            try:
                is_its_own = pid != group and os.getsid(pid) == group
            except ProcessLookupError:
                continue
            if is_its_own:
                os.kill(pid, signal.SIGTERM)
    _say(f"Job <{arguments[0]}> is being terminated")


if __name__ == "__main__":
    {"bsub": bsub, "bjobs": bjobs, "bhosts": bhosts, "bkill": bkill}[Path(sys.argv[0]).name](sys.argv[1:])
