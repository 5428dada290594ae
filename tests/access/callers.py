"""Callers of the API: the proof that each of them has, and the role that follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from factories.clusters import node_token
from sqlalchemy.orm import Session

from iotide_server.accounts.models import ApiToken, Role, RoleGrant, User, UserSession
from iotide_server.accounts.roles.authentication import API_TOKEN_PREFIX
from iotide_server.accounts.roles.rules import CSRF_HEADER
from iotide_server.accounts.sessions.cookies import SESSION_COOKIE
from iotide_server.kit.digests import digest

Headers = Mapping[str, str]


class Proof(StrEnum):
    """Proof of a caller's identity."""

    NOTHING = "nothing"
    BROWSER = "a session's cookie with the CSRF header"
    BARE_COOKIE = "a session's cookie without the CSRF header"
    ENDED_SESSION = "the cookie of a session that has ended"
    TOKEN = "an API token"
    DEAD_TOKEN = "an API token that is no longer valid"
    NODE = "a node token"
    PENDING_NODE = "the token of a pending node"
    DEAD_NODE = "the token of a node that was retired or revoked"
    READING = "nothing, on an installation that is open for reading"


class Where(StrEnum):
    """Where a person's role holds; the objects of the table belong to the cluster HERE."""

    HERE = "here"
    ELSEWHERE = "elsewhere"
    EVERYWHERE = "everywhere"


@dataclass(frozen=True)
class Caller:
    """A column of the table.

    Attributes:
        role: of a person, limited by the proof: an admin's token of the scope `read` is a viewer's.
        node: the owner of the token; `n1` has the order of the table, `n2` is in its cluster, `far` in another.
    """

    name: str
    proof: Proof
    role: Role | None = None
    where: Where = Where.HERE
    node: str | None = None

    @property
    def is_person(self) -> bool:
        """Return whether the routes of people accept this kind of proof."""
        return self.proof in {Proof.BROWSER, Proof.BARE_COOKIE, Proof.TOKEN, Proof.READING}

    def may(self, wanted: Role, *, everywhere: bool = False) -> bool:
        """Return whether the caller has at least this role, in the cluster of the table or in all clusters."""
        is_there = self.where is Where.EVERYWHERE or (self.where is Where.HERE and not everywhere)
        return is_there and self.may_somewhere(wanted)

    def may_somewhere(self, wanted: Role) -> bool:
        """Return whether the caller has at least this role in any cluster."""
        return self.role is not None and self.role.rank >= wanted.rank


CALLERS = (
    Caller("anonymous", Proof.NOTHING),
    Caller("no role", Proof.BROWSER),
    Caller("viewer", Proof.BROWSER, Role.VIEWER),
    Caller("operator", Proof.BROWSER, Role.OPERATOR),
    Caller("admin", Proof.BROWSER, Role.ADMIN),
    Caller("admin of all", Proof.BROWSER, Role.ADMIN, Where.EVERYWHERE),
    Caller("other operator", Proof.BROWSER, Role.OPERATOR, Where.ELSEWHERE),
    Caller("other admin", Proof.BROWSER, Role.ADMIN, Where.ELSEWHERE),
    Caller("admin's token", Proof.TOKEN, Role.ADMIN),
    Caller("admin's token to read", Proof.TOKEN, Role.VIEWER),
    Caller("expired token", Proof.DEAD_TOKEN),
    Caller("revoked token", Proof.DEAD_TOKEN),
    Caller("disabled user's token", Proof.DEAD_TOKEN),
    Caller("expired session", Proof.ENDED_SESSION),
    Caller("idle session", Proof.ENDED_SESSION),
    Caller("disabled user's session", Proof.ENDED_SESSION),
    Caller("cookie without CSRF header", Proof.BARE_COOKIE, Role.ADMIN),
    Caller("the order's node", Proof.NODE, node="n1"),
    Caller("another node", Proof.NODE, node="n2"),
    Caller("other cluster's node", Proof.NODE, node="far"),
    Caller("pending node", Proof.PENDING_NODE, node="pending"),
    Caller("retired node", Proof.DEAD_NODE, node="retired"),
    Caller("revoked node", Proof.DEAD_NODE, node="revoked"),
    Caller("anonymous, open for reading", Proof.READING, Role.VIEWER, Where.EVERYWHERE),
)


def admit(session: Session, caller: Caller, clusters: Mapping[Where, list[int]], now: datetime) -> Headers:
    """Create the person behind the caller, if there is one; return the caller's headers."""
    if caller.node is not None:
        return {"Authorization": f"Bearer {node_token(caller.node)}"}
    if caller.proof in {Proof.NOTHING, Proof.READING}:
        return {}
    user = User(name=f"caller-{CALLERS.index(caller)}", created_at=now)
    session.add(user)
    session.flush()
    if "disabled" in caller.name:
        user.disabled_at = now
    has_all = caller.name.startswith(("admin's", "expired", "idle", "revoked", "disabled"))
    role = Role.ADMIN if has_all else caller.role
    places: list[int | None] = [None] if caller.where is Where.EVERYWHERE else [*clusters[caller.where]]
    if role is not None:
        session.add_all(RoleGrant(user_id=user.id, cluster_id=place, role=role) for place in places)
    secret = f"{API_TOKEN_PREFIX}{user.name}"
    if caller.proof in {Proof.TOKEN, Proof.DEAD_TOKEN}:
        session.add(_token(caller, user, digest(secret), now))
        return {"Authorization": f"Bearer {secret}"}
    session.add(_session(caller, user, digest(secret), now))
    cookie = {"Cookie": f"{SESSION_COOKIE}={secret}"}
    return cookie if caller.proof is Proof.BARE_COOKIE else cookie | {CSRF_HEADER: "1"}


def _token(caller: Caller, user: User, secret_sha256: str, now: datetime) -> ApiToken:
    return ApiToken(
        user_id=user.id,
        name="of the table",
        secret_sha256=secret_sha256,
        scopes=["read"] if caller.role is Role.VIEWER else ["admin"],
        created_at=now - timedelta(days=9),
        expires_at=now - timedelta(seconds=1) if "expired" in caller.name else None,
        revoked_at=now - timedelta(days=1) if "revoked" in caller.name else None,
    )


def _session(caller: Caller, user: User, secret_sha256: str, now: datetime) -> UserSession:
    return UserSession(
        user_id=user.id,
        secret_sha256=secret_sha256,
        created_at=now - timedelta(days=9),
        rotated_at=now,
        last_seen_at=now - timedelta(days=8) if "idle" in caller.name else now,
        expires_at=now - timedelta(seconds=1) if "expired" in caller.name else now + timedelta(days=1),
    )
