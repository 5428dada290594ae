"""What an installation sets, read from `IOTIDE_...` variables; the programs alone read it and pass values down."""

from pathlib import Path
from typing import Final

from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

API_PORT: Final = 8470
"""Where the API listens unless it is told otherwise."""


class Settings(BaseSettings):
    """Settings of API, scheduler and worker.

    Attributes:
        database_url: `postgresql://user:password@host:port/name`.
        redis_url: the server's own access to the broker.
        redis_admin_url: access with the right to `ACL`; None: `redis_url` has it.
        agent_broker_url: the broker as agents reach it, without user and password; None: as `redis_url`.
        public_url: where browsers and agents reach the API; it stands in join commands and sign-in links.
        ca_certificate: the CA that agents must trust for API and broker; None: the system's.
        frontend_directory: the built browser application; None: the one in the package or the repository.
    """

    model_config = SettingsConfigDict(env_prefix="IOTIDE_", frozen=True)

    database_url: SecretStr
    redis_url: SecretStr
    redis_admin_url: SecretStr | None = None
    agent_broker_url: str | None = None
    public_url: str = f"http://127.0.0.1:{API_PORT}"
    ca_certificate: Path | None = None
    frontend_directory: Path | None = None

    @property
    def redis_acl_url(self) -> str:
        """The access by which the nodes' users get into Redis."""
        return (self.redis_admin_url or self.redis_url).get_secret_value()
