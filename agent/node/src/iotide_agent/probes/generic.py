"""What can be said of any mount: its type and its effective options; all that is known of an unknown file system."""

from collections.abc import Iterable
from typing import ClassVar

from iotide_agent.probes.base import Probe, Texts
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import Want
from iotide_wire.facts import Facts


class GenericProbe(Probe):
    """Reads nothing but the mount itself."""

    name: ClassVar[str] = "generic"

    def matches(self, mount: Mount) -> bool:
        """Every mount."""
        del mount
        return True

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        """Nothing."""
        del mount, texts
        return ()

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """Type, options, and the directory of the file system that is mounted where that is not its root."""
        del texts
        facts: Facts = {"mount.fstype": mount.fstype, "mount.options": ",".join(mount.options)}
        return facts if mount.root == "/" else facts | {"mount.root": mount.root}
