"""A simulated node: a reader of recorded texts; everything else is missing."""

from collections.abc import Mapping
from pathlib import Path

from iotide_agent.probes.mounts import Mount, parse_mountinfo
from iotide_agent.probes.reader import CommandWant, Reader, Unavailable, Want
from iotide_wire.facts import Facts

PROBE_DATA = Path(__file__).parents[1] / "data" / "probes"


class Recorded(Reader):
    """Answers by path, or by the words of a command."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self.asked: list[str] = []

    def read(self, want: Want) -> str | Unavailable:
        key = " ".join(want.argv) if isinstance(want, CommandWant) else want.path
        self.asked.append(key)
        text = self.texts.get(key)
        if text is not None:
            return text
        if isinstance(want, CommandWant):
            return Unavailable(f"{want.argv[0]} is not installed; install the package {want.package} on this node")
        return Unavailable(f"{key} cannot be read: No such file or directory")


def sample(name: str) -> str:
    """Return a recorded output, without the remarks on its origin, which begin with `# `."""
    lines = (PROBE_DATA / name).read_text().splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("# "))


def mount_at(mount_point: str, mountinfo: str) -> Mount:
    """Return the last mount at that path in a recorded mountinfo."""
    return [mount for mount in parse_mountinfo(sample(mountinfo)) if mount.mount_point == mount_point][-1]


def mount_of(fstype: str, mountinfo: str) -> Mount:
    """Return the mount of that type in a recorded mountinfo."""
    return next(mount for mount in parse_mountinfo(sample(mountinfo)) if mount.fstype == fstype)


def failures(facts: Facts) -> list[str]:
    """Return the probes that raised."""
    return [name for name in facts if name.endswith(".probe")]
