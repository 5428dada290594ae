"""What an installation sets, read from `IOTIDE_...` variables; the programs alone read it and pass values down."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from iotide_server.kit.vault import Vault

API_PORT: Final = 8470
"""Where the API listens unless it is told otherwise."""


def _check_key(keys: SecretStr) -> SecretStr:
    Vault(keys.get_secret_value())
    return keys


class Settings(BaseSettings):
    """Settings of API, scheduler and worker.

    Attributes:
        database_url: `postgresql://user:password@host:port/name`.
        redis_url: the server's own access to the broker.
        redis_admin_url: access with the right to `ACL`; None: `redis_url` has it.
        agent_broker_url: the broker as agents reach it, without user and password; None: as `redis_url`.
        public_url: where browsers and agents reach the API; it stands in join commands and sign-in links.
        ca_certificate: the CA that agents must trust for API and broker; None: the system's.
        fair_share_hours: so far do the runs of an owner who used all nodes of a cluster all the time stand back behind
            those of others, and in proportion where less was used; 0: the order of submission alone counts.
        fair_share_half_life_hours: what was used so long ago counts half.
        node_rotation_days: so old may a node's token and Redis password become before it gets new ones; 0: any age.
        vault_key: seals the secrets of notification channels, see `kit.vault`; None: none can be stored.
        notify_loopback: notifications may go to services on the server's own machine, such as a mail relay.
        frontend_directory: the built browser application; None: the one in the package or the repository.
    """

    model_config = SettingsConfigDict(env_prefix="IOTIDE_", frozen=True)

    database_url: SecretStr
    redis_url: SecretStr
    redis_admin_url: SecretStr | None = None
    agent_broker_url: str | None = None
    public_url: str = f"http://127.0.0.1:{API_PORT}"
    ca_certificate: Path | None = None
    fair_share_hours: float = Field(default=24.0, ge=0)
    fair_share_half_life_hours: float = Field(default=24.0, gt=0)
    node_rotation_days: float = Field(default=90.0, ge=0, le=3650)
    vault_key: Annotated[SecretStr, AfterValidator(_check_key)] | None = None
    notify_loopback: bool = False
    frontend_directory: Path | None = None

    @property
    def redis_acl_url(self) -> str:
        """The access by which the nodes' users get into Redis."""
        return (self.redis_admin_url or self.redis_url).get_secret_value()

    @property
    def vault(self) -> Vault | None:
        """What keeps secrets that have to be sent again."""
        return None if self.vault_key is None else Vault(self.vault_key.get_secret_value())
