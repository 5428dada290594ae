"""A cluster with nodes whose agents have said hello."""

from datetime import datetime

from factories.announced import NOW, hello
from sqlalchemy.orm import Session

from iotide_server.accounts.roles.authentication import NODE_TOKEN_PREFIX
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.models import Cluster, Node
from iotide_server.kit.digests import digest
from iotide_wire.messages import HelloRequest


def make_cluster(session: Session, name: str = "blade") -> Cluster:
    made = Cluster(name=name)
    session.add(made)
    session.flush()
    return made


def node_token(name: str) -> str:
    return f"{NODE_TOKEN_PREFIX}{name}"


def make_node(
    session: Session, cluster: Cluster, name: str = "n1", *, said: HelloRequest | None = None, now: datetime = NOW
) -> Node:
    """Make a node with the token `node_token(name)` and a recorded hello."""
    node = Node(
        cluster_id=cluster.id,
        name=name,
        role="compute",
        token_sha256=digest(node_token(name)),
        redis_password_sha256=digest(name),
    )
    session.add(node)
    session.flush()
    agents.hello(session, node.id, said or hello(), now)
    return node
