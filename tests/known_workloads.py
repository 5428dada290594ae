"""Built-in workloads of this and previous releases, as the server knows them; see `./dev generate`.

Prints `built_in.json` with the agent's present announcements. Earlier revisions stay: agents in use announce them.
"""

import sys
from collections.abc import Iterable

from factories.ready_cluster import announced

from iotide_agent.workloads.registry import announced_preparing
from iotide_wire.built_in import BuiltIn, built_in, dump
from iotide_wire.catalogue import WorkloadAnnouncement

SITES_OWN = {"command"}


def merged(known: Iterable[BuiltIn], announcements: Iterable[WorkloadAnnouncement]) -> list[BuiltIn]:
    """Return the known and the announced revisions, each digest once and as last announced."""
    by_digest = {one.sha256: one for one in known}
    by_digest |= {one.schema_sha256: BuiltIn.of(one) for one in announcements if one.name not in SITES_OWN}
    return sorted(by_digest.values(), key=lambda one: (one.name, one.revision))


if __name__ == "__main__":
    known = [one for revisions in built_in().values() for one in revisions]
    sys.stdout.write(dump(merged(known, [*announced(()), announced_preparing()])))
