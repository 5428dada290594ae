"""What can be said of any mount: its type and its effective options; all that is known of an unknown file system."""

from typing import ClassVar

from iotide_agent.probes.base import Probe, Texts
from iotide_agent.probes.identity import shared
from iotide_agent.probes.mounts import Mount, lasting_options
from iotide_wire.facts import Facts


class GenericProbe(Probe):
    """Reads nothing but the mount itself."""

    name: ClassVar[str] = "generic"

    def matches(self, mount: Mount) -> bool:
        return True

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """Type, options, and the directory of the file system that is mounted where that is not its root.

        A source that names a server is the identity until a probe that knows the file system says better.
        """
        options = lasting_options(mount.options)
        facts: Facts = {"mount.fstype": mount.fstype, "mount.options": options, "fs.identity_scope": "node"}
        if mount.device.startswith("0:") and (mount.source.startswith("//") or ":/" in mount.source):
            facts |= shared(f"{mount.fstype}:{mount.source}")
        return facts if mount.root == "/" else facts | {"mount.root": mount.root}
