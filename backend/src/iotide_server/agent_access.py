"""Agents' connection details, and Redis with permission to manage their users."""

from typing import Final
from urllib.parse import urlsplit

from redis import Redis

from iotide_server.agent_files.shelf import AgentShelf, stock
from iotide_server.bundled.tls import fingerprint
from iotide_server.clusters.agents.access import AgentAccess
from iotide_server.settings import Settings

REDIS_SECONDS: Final = 2.0


def agent_shelf(settings: Settings) -> AgentShelf:
    return stock(settings.agent_files, _authority(settings))


def agent_access(settings: Settings, shelf: AgentShelf | None = None) -> AgentAccess:
    """`shelf` adds the command that installs the agent."""
    own = settings.redis_url.get_secret_value()
    ca_pem = _authority(settings)
    broker_ca_pem = settings.broker_ca_certificate.read_text() if settings.broker_ca_certificate else ca_pem
    return AgentAccess(
        public_url=settings.public_url.rstrip("/"),
        broker_url=settings.agent_broker_url or _without_credentials(own),
        broker_ca_pem=broker_ca_pem,
        ca_fingerprint=fingerprint(ca_pem) if ca_pem else None,
        script_sha256=None if shelf is None else shelf.script_sha256,
        redis_admin=Redis.from_url(
            settings.redis_acl_url, socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS
        ),
    )


def _authority(settings: Settings) -> str | None:
    return settings.ca_certificate.read_text() if settings.ca_certificate else None


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
