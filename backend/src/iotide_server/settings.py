"""Settings from `IOTIDE_...` variables, read only by the programs."""

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from iotide_server.accounts.oidc.terms import NamedRole, OidcTerms, check_issuer, parse_role
from iotide_server.accounts.sessions.rotation import SessionTerms
from iotide_server.bundled.ports import API_PORT
from iotide_server.kit.listening import Address, check_listen, parse_listen
from iotide_server.kit.logs import LogFormat
from iotide_server.kit.proxies import check_proxies
from iotide_server.kit.quotas import DEFAULTS as DEFAULT_QUOTAS
from iotide_server.kit.quotas import Quotas
from iotide_server.kit.vault import Vault
from iotide_server.notifications.addresses import Reach, hosts_of
from iotide_server.results.ingest.limits import DEFAULTS, ReportLimits


def _check_key(keys: SecretStr) -> SecretStr:
    Vault(keys.get_secret_value())
    return keys


def _roles_by_group(given: object) -> object:
    by_group = json.loads(given) if isinstance(given, str) else given
    if not isinstance(by_group, Mapping):
        raise ValueError('give a JSON object of roles by group, such as {"storage": "admin"}')  # noqa: TRY004 - pydantic's own
    return {group: _named_roles(roles) for group, roles in by_group.items()}


def _named_roles(given: object) -> tuple[NamedRole, ...]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list):
        raise ValueError(f"{given!r} is not a role or a list of roles")  # noqa: TRY004 - as above
    return tuple(parse_role(str(text)) for text in texts)


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="IOTIDE_", frozen=True)

    database_url: SecretStr
    redis_url: SecretStr
    redis_admin_url: SecretStr | None = None  # needs permission for `ACL`; None: `redis_url`
    # Redis for agents, without credentials; None: `redis_url`
    agent_broker_url: str | None = None
    # in join commands and sign-in links
    public_url: str = f"http://127.0.0.1:{API_PORT}"
    ca_certificate: Path | None = None  # of API and Redis, for agents; None: the system's CAs
    broker_ca_certificate: Path | None = None  # of Redis, if different
    # priority penalty, in hours of waiting, for an owner who always used all nodes of a cluster; 0: order of submission
    fair_share_hours: float = Field(default=24.0, ge=0)
    fair_share_half_life_hours: float = Field(default=24.0, gt=0)
    # longer statements of the API fail with 503
    statement_seconds: float = Field(default=30.0, gt=0, le=3600)
    # renews nodes' tokens and Redis passwords; 0: never
    node_rotation_days: float = Field(default=90.0, ge=0, le=3650)
    # report_*: see `results.limits.ReportLimits`
    report_samples: int = Field(default=DEFAULTS.samples, gt=0, le=DEFAULTS.samples)
    report_series: int = Field(default=DEFAULTS.series, gt=0)
    report_labels: int = Field(default=DEFAULTS.labels, gt=0)
    report_label_values: int = Field(default=DEFAULTS.label_values, gt=0)
    report_counters: int = Field(default=DEFAULTS.counters, gt=0)
    report_curve_pieces: int = Field(default=DEFAULTS.curve_pieces, gt=0)
    report_raw_bytes: int = Field(default=DEFAULTS.raw_bytes, gt=0)
    report_raw_bytes_a_day: int = Field(default=DEFAULTS.raw_bytes_a_day, gt=0)
    report_new_series_a_day: int = Field(default=DEFAULTS.new_series_a_day, gt=0)
    report_flag_bytes: int = Field(default=DEFAULTS.flag_bytes, gt=0)
    report_step_bytes: int = Field(default=DEFAULTS.step_bytes, gt=0)
    report_fact_bytes: int = Field(default=DEFAULTS.fact_bytes, gt=0)
    report_log_lines: int = Field(default=DEFAULTS.log_lines, gt=0)
    report_hellos_a_minute: int = Field(default=DEFAULTS.hellos_a_minute, gt=0)
    quota_waiting_runs: int = Field(default=DEFAULT_QUOTAS.waiting_runs, gt=0)
    quota_waiting_runs_of_person: int = Field(default=DEFAULT_QUOTAS.waiting_runs_of_person, gt=0)
    quota_active_schedules: int = Field(default=DEFAULT_QUOTAS.active_schedules, gt=0)
    quota_templates: int = Field(default=DEFAULT_QUOTAS.templates, gt=0)
    quota_runs_a_day: int = Field(default=DEFAULT_QUOTAS.runs_a_day, gt=0)
    quota_schedules_a_day: int = Field(default=DEFAULT_QUOTAS.schedules_a_day, gt=0)
    quota_templates_a_day: int = Field(default=DEFAULT_QUOTAS.templates_a_day, gt=0)
    quota_events_a_day: int = Field(default=DEFAULT_QUOTAS.events_a_day, gt=0)
    vault_key: Annotated[SecretStr, AfterValidator(_check_key)] | None = None
    # allow notifications to the server's own host, such as a mail relay
    notify_loopback: bool = False
    session_hours: float = Field(default=720.0, gt=0, le=8784)
    session_idle_hours: float = Field(default=168.0, gt=0, le=8784)
    # comma-separated addresses and networks whose X-Forwarded-For is trusted
    trusted_proxies: Annotated[str, AfterValidator(check_proxies)] = ""
    # makes everything except people, tokens, channels and the audit log readable without signing in
    public_read: bool = False
    # oidc_*: see `accounts.oidc.terms.OidcTerms`
    oidc_issuer: Annotated[str, AfterValidator(check_issuer)] | None = None
    oidc_client_id: str | None = None
    oidc_client_secret: SecretStr | None = None
    oidc_name: str = "OpenID"
    oidc_scopes: Annotated[str, Field(pattern=r"(^|\s)openid(\s|$)")] = "openid profile email"
    oidc_roles_claim: str = "groups"
    # `{"storage": "admin", "hpc": ["operator@blue", "viewer"]}`; the group `*` has all people
    oidc_roles: Annotated[Mapping[str, tuple[NamedRole, ...]], NoDecode, BeforeValidator(_roles_by_group)] = Field(
        default_factory=dict
    )
    oidc_admit_without_role: bool = False  # accounts for people whose groups give no role
    # `ADDRESS:PORT` of unauthenticated metrics: API; scheduler one above, worker two above
    metrics_listen: Annotated[str, AfterValidator(check_listen)] | None = None
    log_format: LogFormat = LogFormat.PLAIN
    frontend_directory: Path | None = None
    chromium: str | None = None  # prints reports; None: the first found on PATH, "": none
    agent_files: Path | None = None  # directory of files that nodes fetch below /agent/; None: of this package
    docs_directory: Path | None = None

    @model_validator(mode="after")
    def _check_oidc(self) -> Self:
        if self.oidc_issuer is not None and not self.oidc_client_id:
            raise ValueError("IOTIDE_OIDC_ISSUER requires IOTIDE_OIDC_CLIENT_ID")
        return self

    @property
    def report_limits(self) -> ReportLimits:
        return ReportLimits(**{field.name: getattr(self, f"report_{field.name}") for field in fields(ReportLimits)})

    @property
    def quotas(self) -> Quotas:
        return Quotas(**{field.name: getattr(self, f"quota_{field.name}") for field in fields(Quotas)})

    @property
    def session_terms(self) -> SessionTerms:
        return SessionTerms(timedelta(hours=self.session_idle_hours), timedelta(hours=self.session_hours))

    @property
    def oidc(self) -> OidcTerms | None:
        if self.oidc_issuer is None or self.oidc_client_id is None:
            return None
        return OidcTerms(
            issuer=self.oidc_issuer,
            client_id=self.oidc_client_id,
            client_secret=self.oidc_client_secret.get_secret_value() if self.oidc_client_secret else None,
            name=self.oidc_name,
            scopes=self.oidc_scopes,
            roles_claim=self.oidc_roles_claim,
            roles=self.oidc_roles,
            admits_without_role=self.oidc_admit_without_role,
        )

    @property
    def redis_acl_url(self) -> str:
        return (self.redis_admin_url or self.redis_url).get_secret_value()

    @property
    def reach(self) -> Reach:
        redis_urls = (self.redis_url.get_secret_value(), self.redis_acl_url)
        return Reach(self.notify_loopback, hosts_of(self.database_url.get_secret_value(), redis_urls))

    @property
    def vault(self) -> Vault | None:
        return None if self.vault_key is None else Vault(self.vault_key.get_secret_value())

    @property
    def metrics_address(self) -> Address | None:
        return None if self.metrics_listen is None else parse_listen(self.metrics_listen)
