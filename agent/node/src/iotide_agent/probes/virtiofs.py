"""virtiofs: the tag of a directory of the virtual machine's host, and if its files are mapped from the host's cache."""

from typing import ClassVar

from iotide_agent.probes.base import Probe, Texts
from iotide_agent.probes.mounts import Mount
from iotide_wire.facts import Facts


class VirtiofsProbe(Probe):
    """See the kernel's filesystems/virtiofs and filesystems/dax. The host's page cache is below every read."""

    name: ClassVar[str] = "virtiofs"

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        dax = mount.option("dax") or ("always" if "dax" in mount.options else "never")
        return {
            "virtiofs.tag": f"tag {mount.source}" if mount.source.isdecimal() else mount.source,
            "virtiofs.dax": dax,
        }
