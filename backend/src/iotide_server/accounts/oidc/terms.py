"""What an installation says of its OpenID provider, and the roles that the groups of a person give; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from iotide_server.accounts.models import Role

EVERYBODY = "*"  # the group that everybody is in whom the provider lets sign in


@dataclass(frozen=True, slots=True)
class NamedRole:
    """A role in the cluster of that name, or in all where it is None."""

    role: Role
    cluster: str | None


@dataclass(frozen=True, slots=True)
class OidcTerms:
    """The OpenID provider by which people sign in."""

    issuer: str  # its address, as its tokens name it
    client_id: str
    # None for a public client, which PKCE alone protects
    client_secret: str | None = field(repr=False)  # a traceback in the log shows it otherwise
    name: str  # shown on the button of the login page
    scopes: str  # asked for, `openid` among them
    # where the groups stand in the ID token or the user info; `realm_access.roles` is inside an object
    roles_claim: str
    roles: Mapping[str, Sequence[NamedRole]]  # what the members of each group may do
    admits_without_role: bool  # whether somebody whose groups give no role gets an account all the same


def parse_role(text: str) -> NamedRole:
    """Read `operator@blue` as a role in the cluster blue, `admin` as one in all clusters; raise ValueError."""
    role, at, cluster = text.partition("@")
    if role not in set(Role) or (at and not cluster):
        raise ValueError(
            f"{text!r} is no role: write viewer, operator or admin, and @CLUSTER behind it for one cluster"
        )
    return NamedRole(Role(role), cluster or None)


def check_issuer(issuer: str) -> str:
    """Return the provider's address; raise ValueError where it is reached neither by HTTPS nor on this machine."""
    parts = urlsplit(issuer)
    if parts.scheme == "https" and parts.hostname:
        return issuer
    if parts.scheme == "http" and _is_loopback(parts.hostname):
        return issuer
    raise ValueError(f"{issuer!r}: give the provider's address with https://, as its tokens have it in `iss`")


def groups_in(claims: Mapping[str, Any], path: str) -> frozenset[str] | None:
    """The groups that stand at the path of claims; None where there is nothing at all, or nothing like groups."""
    found: Any = claims.get(path)  # a name with dots or colons in it, such as a URL
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
    """The strongest role in each cluster, by its name; None stands for all clusters."""
    strongest: dict[str | None, Role] = {}
    for group in groups | {EVERYBODY}:
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
