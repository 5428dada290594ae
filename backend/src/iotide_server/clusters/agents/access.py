"""How agents reach this installation: API, broker and the authority that vouches for both."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import structlog
from redis import Redis, RedisError

from iotide_server.bundled.acl import (
    NodeAccess,
    apply_nodes,
    grant_node,
    node_queue,
    node_username,
    put_out_node,
    replace_node,
)
from iotide_server.kit.app_values import AppValue
from iotide_wire.nodes import BrokerAccess

AGENT_ACCESS: Final[AppValue["AgentAccess"]] = AppValue("agent_access")


_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class AgentAccess:
    """What an agent is told at its enrolment, and the way to let its Redis user in."""

    public_url: str  # of the API, without a slash at the end
    broker_url: str  # of Redis as agents reach it, without user and password
    broker_ca_pem: str | None  # the authority to trust for the broker; None: the system's
    # SHA-256, hexadecimal, of the certificate in DER of the authority for the API; None: the system's authorities are
    # trusted
    ca_fingerprint: str | None
    redis_admin: Redis  # a connection with the right to `ACL`

    def broker(self, node_id: int, password: str) -> BrokerAccess:
        """The node's own way to its own queue."""
        parts = urlsplit(self.broker_url)
        url = parts._replace(netloc=f"{node_username(node_id)}:{password}@{parts.netloc.rpartition('@')[2]}").geturl()
        return BrokerAccess(url=url, queue=node_queue(node_id), ca_pem=self.broker_ca_pem)

    def join_token(self, secret: str) -> str:
        """What a person copies to the node."""
        return f"{secret}.{self.ca_fingerprint or '-'}"

    def enroll_command(self, join_token: str, *, replaces: bool = False) -> str:
        """Return what a person runs on the node, where an identity of the host is given up if `replaces`."""
        # `echo` is of the shell itself, so that no `ps` there shows the token.
        command = f"echo {join_token} | iotide-agent enroll --server {self.public_url}"
        return f"{command} --replace" if replaces else command

    def admit(self, node: NodeAccess) -> None:
        """Let a node into Redis; when Redis is away, the scheduler does it later."""
        self._tell(lambda redis: grant_node(redis, node), node.node_id)

    def admit_alone(self, node: NodeAccess) -> None:
        """Let a node into Redis with this password alone, and end all that was opened with another one."""
        self._tell(lambda redis: replace_node(redis, node), node.node_id)

    def put_out(self, node_id: int) -> None:
        """Let a node into Redis no more and end its connections; when Redis is away, its user goes later."""
        self._tell(lambda redis: put_out_node(redis, node_id), node_id)

    def apply(self, nodes: Iterable[NodeAccess]) -> None:
        """Leave only these nodes in Redis; when Redis is away, the scheduler does it later."""
        try:
            apply_nodes(self.redis_admin, nodes)
        except RedisError as error:
            _log.warning("redis_users_not_applied", error=str(error))

    def _tell(self, change: Callable[[Redis], None], node_id: int) -> None:
        try:
            change(self.redis_admin)
        except RedisError as error:
            _log.warning("redis_user_not_changed", node_id=node_id, error=str(error))
