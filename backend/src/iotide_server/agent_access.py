"""Agents' connection details, and Redis with permission to manage their users."""

from typing import Final
from urllib.parse import urlsplit

from redis import Redis

from iotide_server.bundled.tls import fingerprint
from iotide_server.clusters.agents.access import AgentAccess
from iotide_server.settings import Settings

REDIS_SECONDS: Final = 2.0


def agent_access(settings: Settings) -> AgentAccess:
    own = settings.redis_url.get_secret_value()
    ca_pem = settings.ca_certificate.read_text() if settings.ca_certificate else None
    broker_ca_pem = settings.broker_ca_certificate.read_text() if settings.broker_ca_certificate else ca_pem
    return AgentAccess(
        public_url=settings.public_url.rstrip("/"),
        broker_url=settings.agent_broker_url or _without_credentials(own),
        broker_ca_pem=broker_ca_pem,
        ca_fingerprint=fingerprint(ca_pem) if ca_pem else None,
        redis_admin=Redis.from_url(
            settings.redis_acl_url, socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS
        ),
    )


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
