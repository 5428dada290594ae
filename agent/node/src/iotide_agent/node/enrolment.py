"""Enrolment: a host trades a join token for its own identity."""

import time
from contextlib import closing
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from iotide_agent.core.transport import Transport, Unreachable
from iotide_agent.node.config import AgentConfig, ConfigError
from iotide_agent.node.identity import Identity, save_identity
from iotide_agent.node.inventory import AGENT_VERSION, take_inventory
from iotide_agent.node.pinning import checked_authority, pinned_authority
from iotide_wire.messages import EnrollReply, EnrollRequest
from iotide_wire.versions import WIRE_VERSION

_ATTEMPTS: Final = 4
_FIRST_PAUSE_SECONDS: Final = 0.5


def enroll(
    config: AgentConfig, server: str | None, join_token: str, *, replace: bool, ca_pem: str | None = None
) -> EnrollReply:
    """Enrol this host and store its identity. `ca_pem` is an authority that was obtained in another way.

    Raise ConfigError without a server or if an identity exists, PinError for another server than the token's, and
    Refusal or Unreachable.
    """
    url = (server or config.server or "").rstrip("/")
    if not url:
        raise ConfigError("server", None, "set it with --server URL, or as `server` in agent.toml")
    _check_free(config.state_directory, replace=replace)
    request = _request(config, join_token)
    ca_pem = pinned_authority(url, join_token) if ca_pem is None else checked_authority(ca_pem, join_token)
    with closing(Transport(url, "", ca_pem)) as transport:
        reply = _ask(transport, request)
    identity = Identity(
        server_url=url,
        node_id=reply.node_id,
        node_name=reply.node_name,
        node_token=reply.node_token,
        broker=reply.broker,
        ca_pem=ca_pem,
        cluster=reply.cluster,
    )
    save_identity(config.state_directory, identity)
    return reply


def _request(config: AgentConfig, join_token: str) -> EnrollRequest:
    try:
        return EnrollRequest(
            join_token=join_token,
            node_name=config.node_name,
            role=config.role,
            agent_version=AGENT_VERSION,
            wire_version=WIRE_VERSION,
            facts=take_inventory(config).facts,
        )
    except ValidationError as error:
        first = error.errors()[0]
        remedy = f"{first['msg']}; copy it again from the cluster's page"
        raise ConfigError(str(first["loc"][0]), first["input"], remedy) from error


def _check_free(state_directory: Path, *, replace: bool) -> None:
    file = state_directory / "identity.json"
    if file.exists() and not replace:
        remedy = f"this host is already enrolled ({file}); use --replace to make it a new node"
        raise ConfigError("state_directory", str(state_directory), remedy)


def _ask(transport: Transport, request: EnrollRequest) -> EnrollReply:
    pause_seconds = _FIRST_PAUSE_SECONDS
    for _ in range(_ATTEMPTS - 1):
        try:
            return transport.enroll(request)
        except Unreachable:
            time.sleep(pause_seconds)
            pause_seconds *= 2
    return transport.enroll(request)
