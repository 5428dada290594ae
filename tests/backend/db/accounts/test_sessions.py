from contextlib import nullcontext
from datetime import datetime, timedelta

import pytest
from factories.announced import NOW
from factories.people import person
from factories.raised import raised
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts import passwords
from iotide_server.accounts.errors import LINK_SPENT, PERSON_WANTED, WRONG_CREDENTIALS
from iotide_server.accounts.models import ApiToken, AuditEntry, LoginLink, Role, User, UserSession
from iotide_server.accounts.roles import authentication
from iotide_server.accounts.roles.principal import Principal
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.sessions.rotation import Browser, SessionTerms
from iotide_server.accounts.sessions.service import NewSession, Visitor
from iotide_server.kit.errors import IotideError, NotAuthenticatedError

URL = "https://iotide.example.org"
PASSWORD = "correct horse battery"
TERMS = SessionTerms(idle=timedelta(days=7), lifetime=timedelta(days=30))
BROWSER = Browser("10.0.0.1", "Firefox")
VISITOR = Visitor(BROWSER, TERMS)


def secret_of(link: str) -> str:
    return link.partition("#token=")[2]


def by_link(session: Session, link: str, now: datetime) -> NewSession:
    outcome = sessions.sign_in_by_link(session, secret_of(link), VISITOR, now)
    if not isinstance(outcome, NewSession):
        raise outcome
    return outcome


def by_password(session: Session, name: str, password: str, now: datetime = NOW) -> NewSession:
    outcome = sessions.sign_in_by_password(lambda: nullcontext(session), name, password, VISITOR, now)
    if not isinstance(outcome, NewSession):
        raise outcome
    return outcome


def by_cookie(session: Session, secret: str, now: datetime) -> Principal:
    return authentication.by_session_cookie(session, secret, BROWSER, now, TERMS).principal


def signed_in(session: Session) -> NewSession:
    link = sessions.admin_link(session, URL, NOW)
    return by_link(session, link, NOW)


def test_the_first_link_makes_an_administrator_of_all_clusters(session: Session) -> None:
    link = sessions.first_admin_link(session, f"{URL}/", NOW)
    assert link is not None
    assert link.startswith(f"{URL}/login#token=")
    principal = by_link(session, link, NOW).principal
    assert principal.name == "admin"
    assert principal.may(Role.ADMIN, None)


def test_first_links_end_with_the_first_sign_in(session: Session) -> None:
    assert sessions.first_admin_link(session, URL, NOW) is not None
    assert sessions.first_admin_link(session, URL, NOW) is not None, "the previous one was not used"
    signed_in(session)
    assert sessions.first_admin_link(session, URL, NOW) is None


def test_an_admin_link_is_for_the_administrator_there_is(session: Session) -> None:
    ada = person(session, "ada", Role.ADMIN, now=NOW)
    person(session, "admin", Role.VIEWER, now=NOW)
    assert signed_in(session).principal.id == ada.principal.id


def test_a_new_administrator_takes_no_name_that_is_in_use(session: Session) -> None:
    person(session, "admin", Role.VIEWER, now=NOW)
    assert signed_in(session).principal.name == "admin-2"


def test_the_first_administrator_and_every_link_made_at_the_console_are_in_the_audit(session: Session) -> None:
    for _ in range(2):
        sessions.admin_link(session, URL, NOW)
    entries = session.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()
    assert [(entry.action, entry.principal_name) for entry in entries] == [
        ("user_created", "admin"),
        ("link_made", "admin"),
        ("link_made", "admin"),
    ]
    assert entries[0].after == {"name": "admin", "roles": [{"cluster_id": None, "role": "admin"}]}


def test_a_link_opens_once(session: Session) -> None:
    link = sessions.admin_link(session, URL, NOW)
    by_link(session, link, NOW)
    with raised(LINK_SPENT):
        by_link(session, link, NOW)


def test_a_link_opens_for_a_day(session: Session) -> None:
    link = sessions.admin_link(session, URL, NOW)
    with raised(LINK_SPENT):
        by_link(session, link, NOW + timedelta(days=1))


def test_a_disabled_user_s_link_opens_nothing(session: Session) -> None:
    link = sessions.admin_link(session, URL, NOW)
    session.scalars(select(User)).one().disabled_at = NOW
    with raised(LINK_SPENT):
        by_link(session, link, NOW)


def test_no_secret_is_stored_in_plain_text(session: Session) -> None:
    link = sessions.admin_link(session, URL, NOW)
    cookie = by_link(session, link, NOW).secret
    assert session.scalars(select(LoginLink)).one().secret_sha256 != secret_of(link)
    assert session.scalars(select(UserSession)).one().secret_sha256 != cookie


def test_a_cookie_proves_who_it_is_until_it_expires(session: Session) -> None:
    opened = signed_in(session)
    now = NOW
    while now < NOW + TERMS.lifetime - timedelta(days=5):
        now += timedelta(days=5)
        principal = by_cookie(session, opened.secret, now)
        assert principal.id == opened.principal.id
    with pytest.raises(NotAuthenticatedError):
        by_cookie(session, opened.secret, NOW + TERMS.lifetime)


def test_an_idle_session_ends(session: Session) -> None:
    opened = signed_in(session)
    with pytest.raises(NotAuthenticatedError):
        by_cookie(session, opened.secret, NOW + TERMS.idle)


def test_signing_out_ends_only_this_session(session: Session) -> None:
    here, there = signed_in(session), signed_in(session)
    sessions.sign_out(session, here.principal)
    with pytest.raises(NotAuthenticatedError):
        by_cookie(session, here.secret, NOW)
    assert by_cookie(session, there.secret, NOW).id == there.principal.id


def test_a_password_opens_after_it_was_set(session: Session) -> None:
    opened = signed_in(session)
    sessions.set_password(lambda: nullcontext(session), opened.principal, None, PASSWORD, NOW)
    again = by_password(session, "admin", PASSWORD)
    assert again.principal.id == opened.principal.id


def test_a_password_change_wants_the_old_one_and_ends_other_sessions(session: Session) -> None:
    here, there = signed_in(session), signed_in(session)
    sessions.set_password(lambda: nullcontext(session), here.principal, None, PASSWORD, NOW)
    wrong = sessions.set_password(lambda: nullcontext(session), here.principal, "guessed", "something longer", NOW)
    assert isinstance(wrong, IotideError)
    assert wrong.kind is WRONG_CREDENTIALS
    with pytest.raises(NotAuthenticatedError):
        by_cookie(session, there.secret, NOW)
    assert by_cookie(session, here.secret, NOW).id == here.principal.id


def test_a_wrong_name_and_a_wrong_password_look_the_same(session: Session) -> None:
    opened = signed_in(session)
    person(session, "grace", Role.VIEWER, now=NOW)
    sessions.set_password(lambda: nullcontext(session), opened.principal, None, PASSWORD, NOW)
    refusals = []
    for name, password in [("admin", "wrong"), ("nobody", PASSWORD), ("grace", PASSWORD), ("grace", "")]:
        with raised(WRONG_CREDENTIALS) as refusal:
            by_password(session, name, password)
        refusals.append((refusal.value.message, refusal.value.remedy, refusal.value.field, refusal.value.value))
    assert len(set(refusals)) == 1


def test_a_sign_in_succeeds_if_a_concurrent_one_renewed_the_hash(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = signed_in(session)
    sessions.set_password(lambda: nullcontext(session), opened.principal, None, PASSWORD, NOW)
    matches = passwords.matches

    def matches_and_renews(password: str, stored: str | None) -> tuple[bool, str | None]:
        monkeypatch.undo()
        session.get_one(User, opened.principal.id).password_hash = passwords.hashed(PASSWORD)
        return matches(password, stored)

    monkeypatch.setattr(passwords, "matches", matches_and_renews)
    assert by_password(session, "admin", PASSWORD).principal.id == opened.principal.id


def test_a_token_sets_no_password(session: Session) -> None:
    program = authentication.by_api_token(session, person(session, "ci", Role.ADMIN, now=NOW).token, None, NOW)
    with raised(PERSON_WANTED):
        sessions.set_password(lambda: nullcontext(session), program, None, PASSWORD, NOW)


def token_principal(session: Session, role: Role, scopes: list[str], cluster_id: int | None = None) -> Principal:
    owner = person(session, "grace", role, cluster_id, now=NOW)
    session.scalars(select(ApiToken)).one().scopes = scopes
    return authentication.by_api_token(session, owner.token, None, NOW)


@pytest.mark.parametrize(
    ("role", "scopes", "granted"),
    [
        (Role.ADMIN, ["read"], Role.VIEWER),
        (Role.ADMIN, ["read", "operate"], Role.OPERATOR),
        (Role.VIEWER, ["admin"], Role.VIEWER),
    ],
)
def test_a_token_s_scopes_only_cut_down(session: Session, role: Role, scopes: list[str], granted: Role) -> None:
    assert token_principal(session, role, scopes).grants == {None: granted}


def test_a_token_ends_by_expiry_revocation_and_with_its_user(session: Session) -> None:
    owner = person(session, "grace", Role.VIEWER, now=NOW)
    token = session.scalars(select(ApiToken)).one()
    user = session.scalars(select(User)).one()
    for field in ("expires_at", "revoked_at"):
        setattr(token, field, NOW)
        with pytest.raises(NotAuthenticatedError):
            authentication.by_api_token(session, owner.token, None, NOW)
        setattr(token, field, None)
        assert authentication.by_api_token(session, owner.token, None, NOW).user_id == user.id
    user.disabled_at = NOW
    with pytest.raises(NotAuthenticatedError):
        authentication.by_api_token(session, owner.token, None, NOW)


def test_the_use_of_a_token_is_noted_to_the_minute(session: Session) -> None:
    owner = person(session, "grace", Role.VIEWER, now=NOW)
    token = session.scalars(select(ApiToken)).one()
    authentication.by_api_token(session, owner.token, None, NOW)
    authentication.by_api_token(session, owner.token, None, NOW + timedelta(seconds=59))
    assert token.last_used_at == NOW
    authentication.by_api_token(session, owner.token, None, NOW + timedelta(seconds=61))
    assert token.last_used_at == NOW + timedelta(seconds=61)


def test_expired_links_are_removed_and_used_ones_stay(session: Session) -> None:
    signed_in(session)
    sessions.admin_link(session, URL, NOW)
    sessions.forget_expired(session, NOW + TERMS.lifetime)
    assert session.scalars(select(UserSession)).all() == []
    assert [link.used_at for link in session.scalars(select(LoginLink))] == [NOW]
    assert sessions.first_admin_link(session, URL, NOW) is None


def test_signing_in_leaves_a_trace_with_the_address(session: Session) -> None:
    signed_in(session)
    entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "signed_in")).one()
    assert (entry.action, entry.principal_name, entry.address) == ("signed_in", "admin", "10.0.0.1")
