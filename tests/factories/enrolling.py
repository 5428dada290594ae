"""Enrolment requests of a host, and the answer of a server without a Redis for nodes."""

from bring_up import free_port
from redis import Redis

from iotide_server.clusters.agents.access import AgentAccess
from iotide_wire.messages import EnrollRequest, NodeRole
from iotide_wire.versions import WIRE_VERSION

NOWHERE = AgentAccess(
    public_url="https://iotide.example.org",
    broker_url="redis://redis.example.org/0",
    broker_ca_pem=None,
    ca_fingerprint=None,
    redis_admin=Redis.from_url(f"redis://127.0.0.1:{free_port()}/0", socket_connect_timeout=1),
)


def enrol_request(join_token: str, name: str = "n1", **changes: object) -> EnrollRequest:
    """Return the request of a compute node with this release's wire version, with some fields changed."""
    usual = {"role": NodeRole.COMPUTE, "agent_version": "1", "wire_version": WIRE_VERSION}
    return EnrollRequest.model_validate({"join_token": join_token, "node_name": name, **usual, **changes})
