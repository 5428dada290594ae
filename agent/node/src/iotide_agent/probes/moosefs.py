"""MooseFS and related file systems: the directory's goal, which is the number of copies."""

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from iotide_agent.probes import network
from iotide_agent.probes.base import Probe, Texts, labelled, number, on_mount, text_of, unavailable_fact
from iotide_agent.probes.fuse import fuse_name
from iotide_agent.probes.identity import served
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import Unavailable, Want
from iotide_wire.facts import Facts

_SOURCE: Final = re.compile(r"^(?:\w+#)?([^:/]+)(?::(\d+))?(?::?(/.*))?$")
_PORT: Final = "9421"
_goal: Final = on_mount("moosefs-client", "mfsgetgoal", "{0.directory}")


class MoosefsProbe(Probe):
    """The type is only `fuse`, so the source identifies mounts of mfsmount."""

    name: ClassVar[str] = "moosefs"

    def matches(self, mount: Mount) -> bool:
        return fuse_name(mount) in {"mfs", "moosefs", "lizardfs", "saunafs"}

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield _goal(mount)
        yield from network.wants(_master(mount)[0], texts)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        host, port, path = _master(mount)
        facts = {"moosefs.master": f"{host}:{port}"} | _goal_facts(mount, texts) | network.facts(host, texts)
        return facts | served(f"moosefs:{network.address_of(host, texts) or host}:{port}{path}", host)


def _master(mount: Mount) -> tuple[str, str, str]:
    found = _SOURCE.match(mount.source)
    return (found[1], found[2] or _PORT, found[3] or "/") if found else ("", _PORT, "/")


def _goal_facts(mount: Mount, texts: Texts) -> Facts:
    answer = texts.get(_goal(mount), Unavailable("mfsgetgoal was not asked"))
    if isinstance(answer, Unavailable):
        return {"moosefs.goal": unavailable_fact(answer)}
    # A number of copies, or since release 3 the name of a storage class.
    goal = labelled(text_of(texts, _goal(mount))).get(mount.directory, "")
    return {"moosefs.goal": goal[:200] if number(goal) is None else number(goal)} if goal else {}
