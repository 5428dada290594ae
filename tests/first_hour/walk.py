"""A new user's first hour, timed: the README's commands on two clean Debian hosts, to four campaigns and a trend.

Usage: python tests/first_hour/walk.py DIST, as root, where DIST has the wheels of a release. The commands are read from
the README itself. Each host is a root directory with its own systemd and network, and DIST is a package index next to
the normal one. Steps in the browser are replaced by the requests that its pages make. The same is then done from
source, as up to 0.2.0. Exit status 0 when the trend is there within the hour, by at most eight commands.
"""

import functools
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from first_hour.hosts import CGROUPS, Host, Outside, clean_debian, make_bridge, remove_cgroups, unpack
from first_hour.ways import ROOT, Walked, by_name, from_source, seconds_of

BUILT: Final = ROOT / ".dev/first-hour"
FIRST_HOUR_SECONDS: Final = 3600.0
MOST_COMMANDS: Final = 8
_INNER: Final = "IOTIDE_FIRST_HOUR_OUTSIDE"
_WORK: Final = "IOTIDE_FIRST_HOUR_WORK"
_FIND_LINKS: Final = "PIP_FIND_LINKS"
"""Setting of pip, so also of pipx: further places of packages."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base class has this name
        pass


def walk(way: Callable[[Callable[[str], Host]], Walked], outside: Outside, work: Path, first_number: int) -> Walked:
    """Walk one way on two clean hosts, which end with it."""
    archive = BUILT / "debian.tar"
    clean_debian(archive, outside)
    ready: dict[str, Host] = {}
    for number, name in enumerate(("server", "node01"), start=first_number):
        root = work / way.__name__ / name
        unpack(archive, root)
        ready[name] = Host(name, number, root, outside)
    try:
        return way(ready.__getitem__)
    finally:
        for host in ready.values():
            host.shut_down()


def report(new: Walked, old: Walked) -> bool:
    """Print both ways next to each other; return true if the new one is short enough."""
    print(f"trend: {new.trend}")
    for click in new.clicks:
        print(f"  by hand: {click}")
    print(f"\n{'':10}{'by name':>20}{'from source':>24}")
    rows = {**{part: (new.parts[part], old.parts[part]) for part in new.parts}, "in all": (new.commands, old.commands)}
    for part, both in rows.items():
        cells = (f"{len(typed)} commands, {seconds_of(typed):.0f} s" for typed in both)
        print(f"{part:10}{next(cells):>20}{next(cells):>24}")
    print(f"{'':10}{f'{len(new.clicks)} clicks':>20}{f'{len(old.clicks)} clicks':>24}\n")
    count = len(new.commands)
    if count > MOST_COMMANDS:
        print(f"failed: {count} commands, at most {MOST_COMMANDS} are allowed")
    print(
        f"first-hour: commands={count} clicks={len(new.clicks)} seconds={new.seconds:.0f}"
        f" from_source_commands={len(old.commands)} from_source_seconds={old.seconds:.0f}"
    )
    return count <= MOST_COMMANDS and new.seconds < FIRST_HOUR_SECONDS


def _in_namespaces(dist: Path) -> int:
    BUILT.mkdir(parents=True, exist_ok=True)
    descriptor = os.open("/proc/self/ns/net", os.O_RDONLY)
    namespaces = ("--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    index = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(dist)))
    threading.Thread(target=index.serve_forever, daemon=True).start()
    places = f"{os.environ.get(_FIND_LINKS, '')} http://127.0.0.1:{index.server_port}/".strip()
    key = str(os.getpid())
    # Removed by this process, which sees no mounts below it: not even /dev of a host can be reached from here.
    with tempfile.TemporaryDirectory(dir=BUILT, prefix="work-") as work:
        environment = {**os.environ, _INNER: str(descriptor), _WORK: work, _FIND_LINKS: places, CGROUPS: key}
        argv = ["unshare", *namespaces, sys.executable, __file__]
        try:
            return subprocess.run(argv, env=environment, pass_fds=(descriptor,), check=False).returncode
        finally:
            with suppress(OSError):
                remove_cgroups(key)


def main() -> int:
    """Start again in new namespaces, which take everything except files with them at the end."""
    if _INNER not in os.environ:
        return _in_namespaces(Path(sys.argv[1]))
    outside = Outside(int(os.environ.pop(_INNER)))
    make_bridge()
    work = Path(os.environ.pop(_WORK))
    print("by name: README.md", flush=True)
    new = walk(by_name, outside, work, 1)
    print("\nfrom source: tests/first_hour/from_source.md", flush=True)
    old = walk(from_source, outside, work, 3)
    return 0 if report(new, old) else 1


if __name__ == "__main__":
    sys.exit(main())
