"""How agents reach this installation: API, broker and the authority that vouches for both."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

import structlog
from redis import Redis, RedisError

from iotide_server.embedded.acl import NodeAccess, apply_nodes, grant_node, node_queue, node_username
from iotide_wire.messages import BrokerAccess

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class AgentAccess:
    """What an agent is told at its enrolment, and the way to let its Redis user in.

    Attributes:
        public_url: of the API, without a slash at the end.
        broker_url: of Redis as agents reach it, without user and password.
        broker_ca_pem: the authority to trust for the broker; None: the system's.
        ca_fingerprint: SHA-256, hexadecimal, of the certificate in DER of the authority for the API; None: the
            system's authorities are trusted.
        redis_admin: a connection with the right to `ACL`.
    """

    public_url: str
    broker_url: str
    broker_ca_pem: str | None
    ca_fingerprint: str | None
    redis_admin: Redis

    def broker(self, node_id: int, password: str) -> BrokerAccess:
        """The node's own way to its own queue."""
        parts = urlsplit(self.broker_url)
        url = parts._replace(netloc=f"{node_username(node_id)}:{password}@{parts.netloc.rpartition('@')[2]}").geturl()
        return BrokerAccess(url=url, queue=node_queue(node_id), ca_pem=self.broker_ca_pem)

    def join_token(self, secret: str) -> str:
        """What a person copies to the node."""
        return f"{secret}.{self.ca_fingerprint or '-'}"

    def enroll_command(self, join_token: str) -> str:
        """What a person runs on the node."""
        return f"iotide-agent enroll --server {self.public_url} --join-token {join_token}"

    def admit(self, node: NodeAccess) -> None:
        """Let a new node into Redis; when Redis is away, the scheduler does it later."""
        try:
            grant_node(self.redis_admin, node)
        except RedisError as error:
            _log.warning("redis_user_not_granted", node_id=node.node_id, error=str(error))

    def apply(self, nodes: Iterable[NodeAccess]) -> None:
        """Leave only these nodes in Redis; when Redis is away, the scheduler does it later."""
        try:
            apply_nodes(self.redis_admin, nodes)
        except RedisError as error:
            _log.warning("redis_users_not_applied", error=str(error))
