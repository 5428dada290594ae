"""Type and effective options of any mount, and the only facts of an unknown file system."""

from typing import ClassVar

from iotide_agent.probes.base import Probe, Texts
from iotide_agent.probes.identity import shared
from iotide_agent.probes.mounts import Mount, lasting_options
from iotide_wire.facts import Facts


class GenericProbe(Probe):
    name: ClassVar[str] = "generic"

    def matches(self, mount: Mount) -> bool:
        return True

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """A source with a server name is the identity, unless a more specific probe sets it."""
        options = lasting_options(mount.options)
        facts: Facts = {"mount.fstype": mount.fstype, "mount.options": options, "fs.identity_scope": "node"}
        if mount.device.startswith("0:") and (mount.source.startswith("//") or ":/" in mount.source):
            facts |= shared(f"{mount.fstype}:{mount.source}")
        return facts if mount.root == "/" else facts | {"mount.root": mount.root}
