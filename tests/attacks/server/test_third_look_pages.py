"""Third review, operator 3, 4 and 8: which requests wait for which others, and for a password's hash."""

from asyncio import gather, run
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import timedelta
from threading import Event
from typing import Final, cast

import pytest
from anyio import CapacityLimiter
from bring_up import wait_for
from factories.announced import NOW
from factories.clock import MovedClock
from factories.people import Person
from factories.slow_pages import locked, locks_wanted, slow_campaigns
from fastapi import FastAPI
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import QueuePool, delete, event, func, select, update
from starlette.datastructures import State

from iotide_server.accounts import passwords
from iotide_server.accounts.models import ApiToken, FailedAttempt, Role, UserSession
from iotide_server.accounts.roles.authentication import Proof
from iotide_server.accounts.roles.page_holders import PageHolders
from iotide_server.accounts.roles.rules import CSRF_HEADER
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.sessions.cookies import SESSION_COOKIE
from iotide_server.accounts.sessions.rotation import Browser, SessionTerms
from iotide_server.accounts.sessions.service import NewSession, Visitor
from iotide_server.accounts.sessions.throttle import MOST_OF_NAME_AND_NETWORK
from iotide_server.kit.db import CONNECTIONS, Database
from iotide_server.kit.errors import IotideError, TooManyRequestsError
from iotide_server.kit.one_each import MOST_WAITING
from iotide_server.kit.proxies import behind_proxies
from iotide_server.main import measure

API: Final = "/api/v1"
PROXY: Final = "127.0.0.1"
AT_ONCE: Final = 12
INVENTED: Final = 50
SECONDS: Final = 10.0
"""An answer that waits for nothing arrives within this time."""
PASSWORD: Final = "correct horse battery"


@pytest.fixture
def client(shared_app: FastAPI, database: Database, clock: MovedClock) -> Iterator[TestClient]:
    """Return the API behind a proxy: X-Forwarded-For gives a request's origin."""
    shared_app.state.database = database
    shared_app.state.clock = clock
    measure(shared_app)
    with TestClient(behind_proxies(shared_app, PROXY), client=(PROXY, 5000), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def everybody_reads(shared_app: FastAPI) -> Iterator[None]:
    """Open the installation for reading."""
    shared_app.state.public_read = True
    yield
    shared_app.state.public_read = False


@pytest.fixture
def other(client: TestClient, make_person: Callable[..., Person]) -> Person:
    """Return a viewer with a token that was used before."""
    person = make_person("other", Role.VIEWER)
    assert client.get(f"{API}/clusters", headers=person.headers).status_code == 200
    return person


def session_of(client: TestClient, database: Database, clock: MovedClock) -> str:
    """Sign the first administrator in; return the secret of the session."""
    with database.transaction() as session:
        link = sessions.admin_link(session, "", clock())
    assert client.post(f"{API}/session/link", json={"token": link.partition("#token=")[2]}).is_success
    secret = client.cookies[SESSION_COOKIE]
    client.cookies.clear()
    return secret


def ask(pool: ThreadPoolExecutor, client: TestClient, headers: dict[str, str]) -> Future[Response]:
    return pool.submit(client.get, f"{API}/campaigns", headers=headers)


KINDS: Final = ["unknown cookies", "passwords for a proxy", "blanks before a token", "a session and a proxy's password"]


@pytest.mark.usefixtures("everybody_reads")
@pytest.mark.parametrize("kind", KINDS)
def test_no_spelling_of_a_proof_makes_another_holder(
    client: TestClient,
    shared_app: FastAPI,
    database: Database,
    clock: MovedClock,
    admin: Person,
    other: Person,
    kind: str,
) -> None:
    secret = session_of(client, database, clock)
    spelled: dict[str, Callable[[int], dict[str, str]]] = {
        KINDS[0]: lambda n: {"Cookie": f"{SESSION_COOKIE}=invented-{n}"},
        KINDS[1]: lambda n: {"Authorization": f"Basic cHJveHk6{n}"},
        KINDS[2]: lambda n: {"Authorization": f"bearer{' ' * (n + 1)}{admin.token}"},
        KINDS[3]: lambda n: {"Authorization": f"Basic cHJveHk6{n}", "Cookie": f"{SESSION_COOKIE}={secret}"},
    }
    name = f"unknown reader of {PROXY}" if kind in KINDS[:2] else f"user {admin.principal.user_id}"
    one_each = shared_app.state.one_each
    with ThreadPoolExecutor(AT_ONCE) as pool, slow_campaigns(database):
        asked = [ask(pool, client, spelled[kind](number)) for number in range(AT_ONCE)]
        wait_for("requests of one holder", lambda: one_each.count(name) == AT_ONCE or None, seconds=SECONDS)
        assert client.get(f"{API}/clusters", headers=other.headers).status_code == 200
        wait_for("the one that is computed", lambda: locks_wanted(database) or None, seconds=SECONDS)
        assert locks_wanted(database) == 1
    assert {answer.result().status_code for answer in asked} == {200}


@pytest.mark.usefixtures("everybody_reads")
def test_anonymous_clients_of_all_networks_share_one_slot_and_known_users_are_answered(
    client: TestClient, shared_app: FastAPI, database: Database, other: Person
) -> None:
    networks = [f"2001:db8:{number}::1" for number in range(CONNECTIONS)]
    holders = [f"unknown reader of 2001:db8:{number}::/64".replace(":0::", "::") for number in range(CONNECTIONS)]
    one_each = shared_app.state.one_each
    with ThreadPoolExecutor(CONNECTIONS + 1) as pool, slow_campaigns(database):
        asked = [ask(pool, client, {"X-Forwarded-For": network}) for network in networks]
        wait_for("all of them", lambda: all(map(one_each.count, holders)) or None, seconds=SECONDS)
        answer = pool.submit(client.get, f"{API}/clusters", headers=other.headers)
        assert answer.result(SECONDS).status_code == 200
        assert client.get(f"{API}/ready").status_code == 200
        wait_for("the one that is computed", lambda: locks_wanted(database) or None, seconds=SECONDS)
        assert locks_wanted(database) == 1
    assert {answer.result().status_code for answer in asked} == {200}


@pytest.fixture
def taken(client: TestClient, database: Database, make_person: Callable[..., Person]) -> Iterator[ThreadPoolExecutor]:
    """Occupy all slots of pages by known users; threads for more requests remain."""
    people = [make_person(f"slow-{number}", Role.VIEWER) for number in range(CONNECTIONS - 1)]
    with ThreadPoolExecutor(INVENTED + CONNECTIONS) as pool, slow_campaigns(database):
        for person in people:
            ask(pool, client, person.headers)
        wait_for("slow pages", lambda: locks_wanted(database) == len(people) or None, seconds=SECONDS)
        yield pool


def test_invented_proofs_are_refused_at_once_and_a_newcomer_at_that_address_waits_as_a_person(
    client: TestClient, shared_app: FastAPI, taken: ThreadPoolExecutor, make_person: Callable[..., Person]
) -> None:
    newcomer, one_each = make_person("new", Role.VIEWER), shared_app.state.one_each
    proofs = [{"Authorization": f"Bearer iot_{number}"} for number in range(INVENTED)]
    proofs += [{"Cookie": f"{SESSION_COOKIE}=invented-{number}"} for number in range(INVENTED)]
    asked = [ask(taken, client, headers) for headers in proofs]
    assert {answer.result(SECONDS).status_code for answer in asked} == {401}
    ask(taken, client, newcomer.headers)
    name = f"user {newcomer.principal.user_id}"
    wait_for("the newcomer", lambda: one_each.count(name) or None, seconds=SECONDS)


def test_sign_ins_by_link_and_the_readiness_wait_for_no_page(client: TestClient, taken: ThreadPoolExecutor) -> None:
    sign_in = taken.submit(client.post, f"{API}/session/link", json={"token": "invented"})
    assert sign_in.result(SECONDS).status_code == 401
    assert taken.submit(client.get, f"{API}/ready").result(SECONDS).status_code == 200


@contextmanager
def looks(database: Database) -> Iterator[list[str]]:
    """Collect the statements that authenticate callers."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("SELECT api_token"):
            seen.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    yield seen
    event.remove(database.engine, "before_cursor_execute", note)


def test_proofs_that_come_together_are_looked_up_together(
    client: TestClient, shared_app: FastAPI, database: Database, clock: MovedClock, make_person: Callable[..., Person]
) -> None:
    newcomer = make_person("new", Role.VIEWER)
    proofs = [Proof(f"iot_{number}", is_token=True) for number in range(INVENTED)]
    proofs.append(Proof(newcomer.token, is_token=True))
    holders: PageHolders = shared_app.state.page_holders

    async def introduced() -> list[IotideError | None]:
        terms, limiter = shared_app.state.session_terms, CapacityLimiter(1)
        state = State({"database": database, "clock": clock, "session_terms": terms, "introductions": limiter})
        return await gather(*(holders.introduce(state, proof) for proof in proofs))

    with looks(database) as seen:
        *refusals, known = run(introduced())
    assert all(isinstance(refusal, IotideError) for refusal in refusals)
    assert known is None
    assert len(seen) == 2  # for live tokens and for expired ones
    with looks(database) as seen:
        assert client.get(f"{API}/campaigns", headers=newcomer.headers).status_code == 200
    assert len(seen) == 1


def test_invented_node_tokens_hold_up_no_page_of_a_newcomer(
    client: TestClient, database: Database, make_person: Callable[..., Person]
) -> None:
    newcomer = make_person("new", Role.VIEWER)
    headers = {"Authorization": "Bearer ion_invented", "Content-Type": "application/json"}
    with ThreadPoolExecutor(2) as pool:
        with locked(database, "node"):
            asked = pool.submit(client.post, f"{API}/agent/beat", headers=headers, content="{}")
            wait_for("the look for the node", lambda: locks_wanted(database) or None, seconds=SECONDS)
            answer = pool.submit(client.get, f"{API}/session", headers=newcomer.headers)
            assert answer.result(SECONDS).status_code == 200
        assert asked.result().status_code == 401


def test_requests_by_a_revoked_token_wait_no_more_as_those_of_its_person(
    client: TestClient, shared_app: FastAPI, database: Database, other: Person
) -> None:
    with database.transaction() as session:
        user_id = other.principal.user_id
        session.execute(update(ApiToken).where(ApiToken.user_id == user_id).values(revoked_at=NOW))
    name, one_each = f"user {other.principal.user_id}", shared_app.state.one_each
    assert client.get(f"{API}/clusters", headers=other.headers).status_code == 401
    with ThreadPoolExecutor(AT_ONCE) as pool, locked(database, "api_token"):
        asked = [ask(pool, client, other.headers) for _ in range(AT_ONCE)]
        wait_for("a look", lambda: locks_wanted(database) or None, seconds=SECONDS)
        assert one_each.count(name) == 0
    assert {answer.result().status_code for answer in asked} == {401}


@pytest.fixture
def hashing(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[list[str], Event]]:
    """Make each comparison of passwords wait; return the compared passwords, and the event that ends the wait."""
    begun: list[str] = []
    may_end = Event()

    def matches(password: str, _: str | None) -> tuple[bool, str | None]:
        begun.append(password)
        may_end.wait(30)
        return password == PASSWORD, None

    monkeypatch.setattr(passwords, "matches", matches)
    yield begun, may_end
    may_end.set()


def test_one_password_is_hashed_at_a_time_and_no_connection_waits_for_it(
    client: TestClient, database: Database, hashing: tuple[list[str], Event]
) -> None:
    begun, may_end = hashing
    with ThreadPoolExecutor(AT_ONCE) as pool:
        bodies = [{"name": f"invented-{number}", "password": "guessed"} for number in range(3)]
        asked = [pool.submit(client.post, f"{API}/session", json=body) for body in bodies]
        wait_for("a hash", lambda: begun or None, seconds=SECONDS)
        assert cast("QueuePool", database.engine.pool).checkedout() == 0
        assert len(begun) == 1
        may_end.set()
        assert {answer.result().status_code for answer in asked} == {401}


def test_sign_ins_go_on_while_a_change_of_a_password_comes_during_slow_pages(
    client: TestClient, database: Database, clock: MovedClock, taken: ThreadPoolExecutor
) -> None:
    cookie = {"Cookie": f"{SESSION_COOKIE}={session_of(client, database, clock)}", CSRF_HEADER: "1"}
    body = {"old_password": None, "new_password": PASSWORD}
    change = taken.submit(client.put, f"{API}/session/password", json=body, headers=cookie)
    assert change.result(SECONDS).status_code == 204
    sign_in = taken.submit(client.post, f"{API}/session", json={"name": "admin", "password": PASSWORD})
    assert sign_in.result(SECONDS).status_code == 200


def test_no_connection_waits_for_the_hash_of_a_changed_password(
    client: TestClient, database: Database, clock: MovedClock, hashing: tuple[list[str], Event]
) -> None:
    begun, may_end = hashing
    cookie = {"Cookie": f"{SESSION_COOKIE}={session_of(client, database, clock)}", CSRF_HEADER: "1"}
    first, second = ({"old_password": old, "new_password": PASSWORD} for old in (None, PASSWORD))
    assert client.put(f"{API}/session/password", json=first, headers=cookie).status_code == 204
    with ThreadPoolExecutor(1) as pool:
        change = pool.submit(client.put, f"{API}/session/password", json=second, headers=cookie)
        wait_for("a hash", lambda: begun or None, seconds=SECONDS)
        assert cast("QueuePool", database.engine.pool).checkedout() == 0
        may_end.set()
        assert change.result().status_code == 204


def test_a_session_that_ends_while_the_password_is_hashed_changes_none(
    client: TestClient, database: Database, clock: MovedClock, hashing: tuple[list[str], Event]
) -> None:
    begun, may_end = hashing
    cookie = {"Cookie": f"{SESSION_COOKIE}={session_of(client, database, clock)}", CSRF_HEADER: "1"}
    first, second = ({"old_password": old, "new_password": PASSWORD} for old in (None, PASSWORD))
    assert client.put(f"{API}/session/password", json=first, headers=cookie).status_code == 204
    with ThreadPoolExecutor(1) as pool:
        change = pool.submit(client.put, f"{API}/session/password", json=second, headers=cookie)
        wait_for("a hash", lambda: begun or None, seconds=SECONDS)
        with database.transaction() as session:
            session.execute(delete(UserSession))
        may_end.set()
        assert change.result().status_code == 401


def test_a_network_has_as_many_sign_ins_waiting_as_a_person_has_pages(
    client: TestClient, hashing: tuple[list[str], Event]
) -> None:
    _, may_end = hashing
    with ThreadPoolExecutor(MOST_WAITING + 2) as pool:
        bodies = [{"name": f"invented-{number}", "password": "guessed"} for number in range(MOST_WAITING + 2)]
        asked = [pool.submit(client.post, f"{API}/session", json=body) for body in bodies]
        done, _ = wait(asked, SECONDS, FIRST_COMPLETED)
        [refusal] = [answer.result() for answer in done]
        assert (refusal.status_code, refusal.headers["Retry-After"]) == (429, "1")
        may_end.set()
    assert sorted(answer.result().status_code for answer in asked) == [401] * (MOST_WAITING + 1) + [429]


def refused(guesses: list[Future[NewSession | IotideError | None]]) -> int:
    return sum(guess.done() and guess.result() is None for guess in guesses)


def test_of_many_guesses_at_once_none_passes_uncounted_while_passwords_are_hashed(
    database: Database, clock: MovedClock, admin: Person, hashing: tuple[list[str], Event]
) -> None:
    begun, may_end = hashing
    visitor = Visitor(Browser("192.0.2.7", None), SessionTerms(timedelta(days=7), timedelta(days=30)))

    def guess(password: str) -> NewSession | IotideError | None:
        try:
            return sessions.sign_in_by_password(database.transaction, admin.principal.name, password, visitor, clock())
        except TooManyRequestsError:
            return None

    with ThreadPoolExecutor(2 * MOST_OF_NAME_AND_NETWORK) as pool:
        guesses = [pool.submit(guess, "guessed") for _ in range(2 * MOST_OF_NAME_AND_NETWORK)]
        wait_for("refusals", lambda: refused(guesses) == MOST_OF_NAME_AND_NETWORK or None, seconds=SECONDS)
        # The last counted one may not have begun yet.
        wait_for("the others", lambda: len(begun) >= MOST_OF_NAME_AND_NETWORK or None, seconds=SECONDS)
        assert len(begun) == MOST_OF_NAME_AND_NETWORK
        may_end.set()
    with database.transaction() as session:
        assert session.scalar(select(func.count()).select_from(FailedAttempt)) == MOST_OF_NAME_AND_NETWORK
