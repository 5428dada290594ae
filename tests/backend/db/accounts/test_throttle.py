from contextlib import nullcontext
from datetime import timedelta

from factories.announced import NOW
from factories.people import person
from factories.raised import raised
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts import passwords
from iotide_server.accounts.errors import TOO_MANY_ATTEMPTS
from iotide_server.accounts.models import AuditEntry, FailedAttempt, Role, User
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.sessions import throttle
from iotide_server.accounts.sessions.rotation import Browser, SessionTerms
from iotide_server.accounts.sessions.throttle import (
    MOST_OF_NAME,
    MOST_OF_NAME_AND_NETWORK,
    MOST_OF_NETWORK,
    WINDOW,
    AttemptKind,
    SignInAttempt,
)
from iotide_server.kit.errors import TooManyRequestsError

PASSWORD = "correct horse battery"
TERMS = SessionTerms(timedelta(days=7), timedelta(days=30))


def attempt(name: str = "grace", address: str = "192.0.2.7") -> SignInAttempt:
    return SignInAttempt(AttemptKind.PASSWORD, address, name)


def fail(session: Session, *attempts: SignInAttempt, every: timedelta = timedelta(0)) -> None:
    for number, one in enumerate(attempts):
        throttle.note_failure(session, one, NOW + number * every)


def is_let_pass(session: Session, one: SignInAttempt, after: timedelta = timedelta(0)) -> bool:
    try:
        throttle.admit(session, one, NOW + after)
    except TooManyRequestsError:
        return False
    return True


def test_a_name_from_one_address_fails_five_times_without_affecting_others(session: Session) -> None:
    fail(session, *[attempt()] * (MOST_OF_NAME_AND_NETWORK - 1))
    assert is_let_pass(session, attempt())
    fail(session, attempt())
    assert not is_let_pass(session, attempt())
    assert is_let_pass(session, attempt(address="192.0.2.8")), "the colleague with that name"
    assert is_let_pass(session, attempt("ada")), "others at the same address"


def test_the_window_slides_and_the_answer_shows_how_long_to_wait(session: Session) -> None:
    fail(session, *[attempt()] * MOST_OF_NAME_AND_NETWORK, every=timedelta(minutes=1))
    with raised(TOO_MANY_ATTEMPTS) as refusal:
        throttle.admit(session, attempt(), NOW + timedelta(minutes=5))
    assert refusal.value.wait_seconds == 600
    assert is_let_pass(session, attempt(), after=WINDOW)
    fail(session, attempt())
    assert is_let_pass(session, attempt(), after=WINDOW + timedelta(minutes=1)), "another attempt has left the window"


def test_a_spray_over_many_names_from_one_address_is_slowed(session: Session) -> None:
    fail(session, *[attempt(f"user-{number}") for number in range(MOST_OF_NETWORK)])
    assert not is_let_pass(session, attempt("user-99"))
    assert is_let_pass(session, attempt("user-99", "192.0.2.8"))


def test_many_addresses_do_not_guess_one_password_and_its_owner_still_gets_in(session: Session) -> None:
    user = session.get_one(User, person(session, "grace", Role.VIEWER, now=NOW).principal.id)
    visitor = sessions.Visitor(Browser("198.51.100.1", None), TERMS)
    sessions.begin(session, user, visitor, NOW, by="link")
    fail(session, *[attempt(address=f"10.0.{number // 4}.1") for number in range(MOST_OF_NAME)])
    assert not is_let_pass(session, attempt(address="203.0.113.9"))
    assert is_let_pass(session, attempt(address="198.51.100.1")), "at an address of an earlier sign-in"


def test_a_customer_s_ipv6_network_counts_as_one(session: Session) -> None:
    fail(session, *[attempt(address=f"2001:db8:1:2::{number}") for number in range(MOST_OF_NAME_AND_NETWORK)])
    assert not is_let_pass(session, attempt(address="2001:db8:1:2:ffff::1"))
    assert is_let_pass(session, attempt(address="2001:db8:1:3::1"))
    assert attempt(address="::ffff:192.0.2.7").network == "192.0.2.7"


def test_links_and_join_tokens_are_counted_by_address(session: Session) -> None:
    link = SignInAttempt(AttemptKind.LINK, "192.0.2.7")
    fail(session, *[link] * MOST_OF_NETWORK)
    assert not is_let_pass(session, link)
    assert is_let_pass(session, SignInAttempt(AttemptKind.ENROLMENT, "192.0.2.7")), "a rack enrolled at the same time"


def test_a_right_password_forgives_what_was_mistyped_there_and_nothing_else(session: Session) -> None:
    user = session.get_one(User, person(session, "grace", Role.VIEWER, now=NOW).principal.id)
    user.password_hash = passwords.hashed(PASSWORD)
    fail(session, *[attempt()] * (MOST_OF_NAME_AND_NETWORK - 1), attempt("ada"))
    visitor = sessions.Visitor(Browser("192.0.2.7", None), TERMS)
    outcome = sessions.sign_in_by_password(lambda: nullcontext(session), "grace", PASSWORD, visitor, NOW)
    assert isinstance(outcome, sessions.NewSession)
    assert len(session.scalars(select(FailedAttempt)).all()) == 1


def test_a_refusal_is_in_the_audit_without_a_possible_password(session: Session) -> None:
    person(session, "grace", Role.VIEWER, now=NOW)
    visitor = sessions.Visitor(Browser("192.0.2.7", None), TERMS)
    for name in ("grace", "hunter2"):
        sessions.sign_in_by_password(lambda: nullcontext(session), name, "wrong", visitor, NOW)
    entries = session.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()
    assert [(entry.action, entry.address) for entry in entries] == [("sign_in_refused", "192.0.2.7")] * 2
    assert [entry.after["name"] for entry in entries if entry.after] == ["grace", None]
    assert [entry.subject_id is None for entry in entries] == [False, True]


def test_attempts_outside_the_window_are_removed(session: Session) -> None:
    fail(session, attempt())
    sessions.forget_expired(session, NOW + WINDOW)
    assert len(session.scalars(select(FailedAttempt)).all()) == 1
    sessions.forget_expired(session, NOW + WINDOW + timedelta(seconds=1))
    assert session.scalars(select(FailedAttempt)).all() == []
