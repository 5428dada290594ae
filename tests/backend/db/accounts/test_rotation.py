from datetime import timedelta

import pytest
from factories.announced import NOW
from factories.people import person
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role, User, UserSession
from iotide_server.accounts.sessions import rotation
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.sessions.rotation import Browser, Recognised, SessionTerms

TERMS = SessionTerms(idle=timedelta(hours=10), lifetime=timedelta(hours=100))
BROWSER = Browser("192.0.2.7", "Firefox")
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


@pytest.fixture
def first(session: Session) -> str:
    """Secret of the first sign-in."""
    user = session.get_one(User, person(session, "grace", Role.VIEWER, now=NOW).principal.id)
    return sessions.begin(session, user, sessions.Visitor(BROWSER, TERMS), NOW, by="link").secret


def seen(session: Session, secret: str, after: timedelta, browser: Browser = BROWSER) -> Recognised | None:
    return rotation.recognise(session, secret, browser, NOW + after, TERMS)


def offered(session: Session, secret: str, after: timedelta) -> str | None:
    found = seen(session, secret, after)
    assert found is not None, "the secret opens nothing"
    return found.offered


def test_a_secret_is_exchanged_after_an_hour_and_the_former_opens_for_a_minute_more(
    session: Session, first: str
) -> None:
    assert offered(session, first, HOUR - SECOND) is None
    second = offered(session, first, HOUR)
    assert second
    assert second != first
    came_back = HOUR + 30 * SECOND
    assert offered(session, second, came_back) is None
    assert seen(session, first, came_back + 59 * SECOND) is not None, "a request that was on its way"
    assert seen(session, first, came_back + 60 * SECOND) is None
    assert seen(session, second, came_back + 60 * SECOND) is not None


def test_a_sign_in_ends_the_session_before_by_its_former_secret_too(session: Session, first: str) -> None:
    second = offered(session, first, HOUR)
    assert second
    assert offered(session, second, HOUR) is None
    user = session.scalars(select(User)).one()
    visitor = sessions.Visitor(BROWSER, TERMS, cookie=first)
    sessions.begin(session, user, visitor, NOW + HOUR + SECOND, by="link")
    assert seen(session, second, HOUR + 2 * SECOND) is None


def test_requests_at_once_are_offered_one_secret(session: Session, first: str) -> None:
    second = offered(session, first, HOUR)
    assert second
    assert offered(session, first, HOUR) is None
    assert offered(session, first, HOUR + 59 * SECOND) is None
    for _ in range(2):
        assert offered(session, second, HOUR + SECOND) is None


def test_a_response_that_never_arrived_does_not_end_the_session(session: Session, first: str) -> None:
    lost = offered(session, first, HOUR)
    assert lost
    again = offered(session, first, 9 * HOUR)
    assert again
    assert again != lost
    assert offered(session, again, 9 * HOUR) is None
    assert seen(session, lost, 9 * HOUR) is None


def test_a_session_ends_when_it_is_idle_and_when_its_time_is_over(session: Session, first: str) -> None:
    assert seen(session, first, 9 * HOUR) is not None
    assert seen(session, first, 19 * HOUR) is None
    row = session.scalars(select(UserSession)).one()
    row.last_seen_at = NOW + 99 * HOUR
    assert seen(session, first, 99 * HOUR) is not None
    assert seen(session, first, 100 * HOUR) is None


def test_a_password_change_exchanges_the_secret_at_once(session: Session, first: str) -> None:
    row = session.scalars(select(UserSession)).one()
    second = rotation.exchange(session, row.id, NOW)
    assert seen(session, second, SECOND) is not None
    assert seen(session, first, 59 * SECOND) is not None
    assert seen(session, first, 60 * SECOND) is None


def test_a_session_shows_where_it_was_last_seen(session: Session, first: str) -> None:
    seen(session, first, timedelta(minutes=2), Browser("198.51.100.1", "Chrome"))
    row = session.scalars(select(UserSession)).one()
    assert (row.address, row.browser, row.last_seen_at) == ("198.51.100.1", "Chrome", NOW + timedelta(minutes=2))
