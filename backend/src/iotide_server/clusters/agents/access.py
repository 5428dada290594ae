"""Addresses of the API and the broker for agents, and users of the broker."""

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
    """Addresses that an agent receives at enrolment. Manages its Redis user."""

    public_url: str  # of the API, without a slash at the end
    broker_url: str  # of Redis as agents reach it, without user and password
    broker_ca_pem: str | None  # CA certificate that verifies the broker; None: the system's CAs
    # SHA-256 (hexadecimal) of the DER certificate of the API's CA; None: the system's CAs
    ca_fingerprint: str | None
    redis_admin: Redis
    script_sha256: str | None = None  # of the script that installs the agent; None if this server does not have it

    def broker(self, node_id: int, password: str) -> BrokerAccess:
        parts = urlsplit(self.broker_url)
        url = parts._replace(netloc=f"{node_username(node_id)}:{password}@{parts.netloc.rpartition('@')[2]}").geturl()
        return BrokerAccess(url=url, queue=node_queue(node_id), ca_pem=self.broker_ca_pem)

    def join_token(self, secret: str) -> str:
        return f"{secret}.{self.ca_fingerprint or '-'}"

    def enroll_command(self, join_token: str, *, replaces: bool = False) -> str:
        """Return the command to run on the node; `replaces` discards the host's present identity."""
        # `echo` is a shell builtin, so `ps` does not show the token.
        command = f"echo {join_token} | iotide-agent enroll --server {self.public_url}"
        return f"{command} --replace" if replaces else command

    def install_command(self, join_token: str) -> str | None:
        """Return the command that installs and enrols an agent, without its last words: the directories for runs.

        It runs the script only if it is the one that this server vouches for. None without agent files.
        """
        if self.script_sha256 is None:
            return None
        fetch = f"curl -fsSko join.sh {self.public_url}/agent/join.sh"
        check = f"echo '{self.script_sha256}  join.sh' | sha256sum -c"
        return f"{fetch} && {check} && echo {join_token} | sh join.sh {self.public_url}"

    def admit(self, node: NodeAccess) -> None:
        """Create the node's Redis user; if Redis is down, the scheduler creates it later."""
        self._change(lambda redis: grant_node(redis, node), node.node_id)

    def admit_alone(self, node: NodeAccess) -> None:
        """Make this the node's only Redis password, and close connections with another one."""
        self._change(lambda redis: replace_node(redis, node), node.node_id)

    def put_out(self, node_id: int) -> None:
        """Remove the node's Redis user and close its connections; if Redis is down, this happens later."""
        self._change(lambda redis: put_out_node(redis, node_id), node_id)

    def apply(self, nodes: Iterable[NodeAccess]) -> None:
        try:
            apply_nodes(self.redis_admin, nodes)
        except RedisError as error:
            _log.warning("redis_users_not_applied", error=str(error))

    def _change(self, change: Callable[[Redis], None], node_id: int) -> None:
        try:
            change(self.redis_admin)
        except RedisError as error:
            _log.warning("redis_user_not_changed", node_id=node_id, error=str(error))
