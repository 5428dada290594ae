"""GlusterFS volume for the gallery: server and client on this machine, isolated from everything else."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from bring_up import wait_for
from loop_disks import Disk, as_root, loop_mount

_ADDRESS: Final = "10.77.0.1"
"""GlusterFS rejects bricks on a loopback address."""
_NAME: Final = "gallery"
_BRICKS: Final = 2
_OWN: Final = ("/var/lib/glusterd", "/var/log/glusterfs", "/run")
# A separate process namespace, so that the daemons that it starts end with it.
_DAEMON: Final = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "glusterd", "--no-daemon")


@contextmanager
def gluster_volume(mount_point: Path, disk: Disk) -> Iterator[None]:
    """Yield a mounted volume distributed over bricks on loop devices. Takes an address and covers /run.

    Needs its own network and mount namespaces.
    """
    directory = mount_point.parents[1] / "gluster"
    bricks = [directory / "bricks" / f"brick-{number}" for number in range(_BRICKS)]
    bricks[0].parent.mkdir(parents=True)
    mount_point.mkdir()
    as_root("ip", "address", "add", f"{_ADDRESS}/32", "dev", "lo")
    for own in _OWN:
        as_root("mount", "-t", "tmpfs", "tmpfs", own)
    Path("/run/gluster").mkdir()
    with ExitStack() as stays:
        for brick in bricks:
            stays.enter_context(loop_mount(brick, disk))
        daemon = stays.enter_context(subprocess.Popen(_DAEMON))
        stays.callback(daemon.kill)
        _start([f"{_ADDRESS}:{brick / 'files'}" for brick in bricks])
        as_root("mount", "-t", "glusterfs", f"{_ADDRESS}:/{_NAME}", mount_point)
        stays.callback(as_root, "umount", mount_point)
        yield


def _start(bricks: Sequence[str]) -> None:
    gluster = ("gluster", "--mode=script")
    wait_for("glusterd", _answers)
    as_root(*gluster, "volume", "create", _NAME, *bricks)
    as_root(*gluster, "volume", "start", _NAME)


def _answers() -> bool | None:
    asked = subprocess.run(["gluster", "peer", "status"], capture_output=True, check=False)
    return True if asked.returncode == 0 else None
