"""Configuration of the OpenID provider, and groups to roles; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from iotide_server.accounts.models import Role

ALL_USERS = "*"


@dataclass(frozen=True, slots=True)
class NamedRole:
    role: Role
    cluster: str | None


@dataclass(frozen=True, slots=True)
class OidcTerms:
    issuer: str
    client_id: str
    client_secret: str | None = field(repr=False)  # hidden from tracebacks
    name: str
    scopes: str
    # path of the groups in ID token or user info: `realm_access.roles`
    roles_claim: str
    roles: Mapping[str, Sequence[NamedRole]]
    admits_without_role: bool


def parse_role(text: str) -> NamedRole:
    """Parse `operator@blue` (cluster blue) or `admin` (all clusters). Raise ValueError."""
    role, at, cluster = text.partition("@")
    if role not in set(Role) or (at and not cluster):
        raise ValueError(
            f"{text!r} is not a role: use viewer, operator or admin, followed by @CLUSTER for a single cluster"
        )
    return NamedRole(Role(role), cluster or None)


def check_issuer(issuer: str) -> str:
    """Raise ValueError unless the address uses HTTPS or is on this machine."""
    parts = urlsplit(issuer)
    if parts.scheme == "https" and parts.hostname:
        return issuer
    if parts.scheme == "http" and _is_loopback(parts.hostname):
        return issuer
    raise ValueError(f"{issuer!r}: give the provider's https:// address, exactly as in the `iss` claim of its tokens")


def groups_in(claims: Mapping[str, Any], path: str) -> frozenset[str] | None:
    found: Any = claims.get(path)  # a name with dots, such as a URL
    if found is None:
        found = claims
        for part in path.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    if isinstance(found, str):
        return frozenset({found})
    if isinstance(found, list):
        return frozenset(group for group in found if isinstance(group, str))
    return None


def roles_of(groups: frozenset[str], roles: Mapping[str, Sequence[NamedRole]]) -> dict[str | None, Role]:
    """Return the strongest role per cluster; None stands for all clusters."""
    strongest: dict[str | None, Role] = {}
    for group in groups | {ALL_USERS}:
        for named in roles.get(group, ()):
            held = strongest.get(named.cluster)
            if held is None or named.role.rank > held.rank:
                strongest[named.cluster] = named.role
    return strongest


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return host is not None and ip_address(host).is_loopback
    except ValueError:
        return False
