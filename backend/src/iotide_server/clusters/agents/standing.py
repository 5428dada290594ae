"""How the server sees a node, for whoever looks after it on the host itself."""

from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.clusters.models import Cluster, Node, PendingNode
from iotide_wire.nodes import Standing, fingerprint
from iotide_wire.versions import SPOKEN_VERSIONS, WIRE_VERSION


def of(session: Session, principal: Principal, waiting: PendingNode | None, now: datetime) -> Standing:
    """The standing of the node whose token asks.

    Args:
        waiting: the host that waits, where it is no node yet.
    """
    found = waiting or session.get_one(Node, principal.id)
    return Standing(
        node_name=found.name,
        cluster=session.get_one(Cluster, found.cluster_id).name,
        pending_until=None if waiting is None else waiting.expires_at,
        fingerprint=fingerprint(found.token_sha256),
        server_time=now,
        oldest_wire_version=SPOKEN_VERSIONS.start,
        newest_wire_version=WIRE_VERSION,
    )
