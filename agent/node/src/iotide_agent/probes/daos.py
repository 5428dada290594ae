"""DAOS by dfuse: pool, container, object class and chunk size of new files in the directory."""

from collections.abc import Iterable
from typing import ClassVar, Final

from iotide_agent.probes.base import Probe, Texts, known, labelled, number, on_mount, text_of, unavailable_fact
from iotide_agent.probes.fuse import fuse_name
from iotide_agent.probes.identity import shared
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import Unavailable, Want
from iotide_wire.facts import Facts

_PACKAGE: Final = "daos-client"
_container: Final = on_mount(_PACKAGE, "daos", "container", "query", "--path={0.mount_point}")
_layout: Final = on_mount(_PACKAGE, "daos", "fs", "get-attr", "--path={0.directory}")


class DaosProbe(Probe):
    """See "DAOS File System" in the user guide of DAOS for these commands."""

    name: ClassVar[str] = "daos"

    def matches(self, mount: Mount) -> bool:
        return fuse_name(mount) in {"daos", "dfuse"}

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield from (_container(mount), _layout(mount))

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """The identity is the container's UUID."""
        answer = texts.get(_container(mount), Unavailable("daos was not asked"))
        if isinstance(answer, Unavailable):
            return {"daos.container": unavailable_fact(answer), "fs.identity_scope": "shared"}
        container = labelled(answer)
        layout = labelled(text_of(texts, _layout(mount)).replace("=", ":"))
        identity = container.get("Container UUID")
        facts = known(
            {
                "daos.pool": container.get("Pool Label") or container.get("Pool UUID"),
                "daos.container": container.get("Container Label") or identity,
                "daos.redundancy_count": number(container.get("Container redundancy factor")),
                "daos.object_class": layout.get("File Creation Object Class") or layout.get("Object Class"),
                "daos.directory_object_class": layout.get("Directory Creation Object Class"),
                "daos.chunk_bytes": number(layout.get("Object Chunk Size")),
            }
        )
        return facts | (shared(f"daos:{identity}") if identity else {"fs.identity_scope": "shared"})
