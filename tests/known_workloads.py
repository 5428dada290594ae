"""The built-in workloads of this release and of those before, for the server to know; see `./dev generate`.

Prints `built_in.json` with what the agent announces now. Earlier revisions stay: agents that announce them are in use.
"""

import sys
from collections.abc import Iterable

from factories.ready_cluster import announced

from iotide_wire.built_in import BuiltIn, built_in, dump
from iotide_wire.catalogue import WorkloadAnnouncement

SITES_OWN = {"command"}


def merged(known: Iterable[BuiltIn], announcements: Iterable[WorkloadAnnouncement]) -> list[BuiltIn]:
    """Return the known revisions with those announced, each digest once and as it was announced last."""
    by_digest = {one.sha256: one for one in known}
    by_digest |= {one.schema_sha256: BuiltIn.of(one) for one in announcements if one.name not in SITES_OWN}
    return sorted(by_digest.values(), key=lambda one: (one.name, one.revision))


if __name__ == "__main__":
    known = [one for revisions in built_in().values() for one in revisions]
    sys.stdout.write(dump(merged(known, announced(()))))
