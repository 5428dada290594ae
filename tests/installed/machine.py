"""Machine with a real systemd as its first process, in namespaces of its own: mounts, processes, network, cgroups.

It has the files of a `BareNode`, only those units of this machine's systemd that a service needs, and a network with
one address.
"""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from bare_node import BASE, MOUNTS, TOP, BareNode

ADDRESS: Final = "192.0.2.10"
SYSTEMD: Final = Path("/lib/systemd/systemd")
_JOURNAL: Final = "systemd-journald.service"
_UNITS: Final = Path("/lib/systemd/system")
_KEPT: Final = (
    *("sysinit.target", "basic.target", "multi-user.target", "shutdown.target", "network.target", "paths.target"),
    *("network-online.target", "timers.target", "sockets.target", "slices.target", "local-fs.target", "swap.target"),
    *(_JOURNAL, "systemd-journald.socket", "systemd-journald-dev-log.socket"),
)
_BOOT: Final = f"""{MOUNTS}
mount -t proc proc "$root/proc"
mount --bind -o ro "$root/proc/sys" "$root/proc/sys"
mount --bind /proc/sys/vm/drop_caches "$root/proc/sys/vm/drop_caches"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
for place in run tmp; do mount -t tmpfs -o mode=1777 tmpfs "$root/$place"; done
chmod 755 "$root/run"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"; ln -s pts/ptmx "$root/dev/ptmx"
for name in null zero full random urandom tty; do
  touch "$root/dev/$name"; mount --bind "/dev/$name" "$root/dev/$name"
done
mount --bind "$root/etc/units" "$root/lib/systemd/system"
ip link set lo up; ip address add {ADDRESS}/32 dev lo
cd "$root"; pivot_root . mnt; umount -l mnt
exec env -i container=iotide PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 {SYSTEMD} --unit=multi-user.target
"""
_MANAGER: Final = "[Manager]\nDefaultEnvironment=LD_LIBRARY_PATH=/opt/python/lib\n"
_NAMESPACES: Final = ("--mount", "--uts", "--ipc", "--net", "--pid")
_ENVIRONMENT: Final = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
_BOOT_SECONDS: Final = 60.0


class Machine:
    """`boot` starts it, `run` runs commands of root, and `cut_power` ends all its processes at once."""

    def __init__(self, node: BareNode) -> None:
        self.node = node
        self._outer: subprocess.Popen[bytes] | None = None
        self._cgroup = _cgroup_root() / f"iotide-{uuid4().hex[:8]}"
        units = node.root / "etc/units"
        for directory in (units / "sysinit.target.wants", node.root / "mnt", node.root / "var/tmp"):
            directory.mkdir(parents=True)
        (node.root / "var/tmp").chmod(0o1777)
        for name in _KEPT:
            if (_UNITS / name).exists():
                (units / name).write_bytes((_UNITS / name).read_bytes())
        (units / "sysinit.target.wants" / _JOURNAL).symlink_to(f"../{_JOURNAL}")
        # A Python below a home directory, which units hide, searches its library there.
        (node.root / "etc/systemd").mkdir(exist_ok=True)
        (node.root / "etc/systemd/system.conf").write_text(_MANAGER)
        (node.root / "etc/machine-id").write_text(f"{uuid4().hex}\n")
        (node.root / "etc/os-release").write_text("ID=iotide\n")
        group = node.root / "etc/group"
        group.write_text(f"{group.read_text()}systemd-journal:x:999:\n")

    def boot(self) -> None:
        self._cgroup.mkdir()
        enter = ["unshare", *_NAMESPACES, "--fork", "--kill-child", "--propagation=private"]
        # A cgroup namespace begins at the cgroup that its first process is in.
        join = ["sh", "-c", 'echo $$ >"$0/cgroup.procs"; exec unshare --cgroup "$@"', str(self._cgroup)]
        boot = ["sh", "-c", _BOOT, "sh", str(TOP), str(BASE), str(self.node.root)]
        with (self.node.root / "boot.log").open("a") as log:
            self._outer = subprocess.Popen([*enter, *join, *boot], stdout=log, stderr=log, env=_ENVIRONMENT)
        deadline = time.monotonic() + _BOOT_SECONDS
        while self.run("systemctl", "is-system-running").stdout.strip() not in {"running", "degraded"}:
            assert self._outer.poll() is None, (self.node.root / "boot.log").read_text()
            assert time.monotonic() < deadline, self.run("systemctl", "list-jobs").stdout
            time.sleep(0.1)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        within = ["nsenter", f"--target={self._first_process()}", *_NAMESPACES, "--cgroup", "--root", "--wdns=/"]
        return subprocess.run(
            [*within, *command], capture_output=True, text=True, check=False, env=_ENVIRONMENT, timeout=300
        )

    def cut_power(self) -> None:
        if self._outer is not None:
            with suppress(ProcessLookupError):
                os.kill(self._first_process(), signal.SIGKILL)
            self._outer.wait(60)
            self._outer = None
            for directory in sorted(self._cgroup.rglob("*"), reverse=True):
                if directory.is_dir():
                    directory.rmdir()
            self._cgroup.rmdir()

    def _first_process(self) -> int:
        assert self._outer is not None
        children = Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children").read_text().split()
        return int(children[0]) if children else self._outer.pid


def _cgroup_root() -> Path:
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    return next(Path(words[1]) for words in mounts if words[2] == "cgroup2")
