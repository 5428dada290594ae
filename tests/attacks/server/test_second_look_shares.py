"""Second review, operator 5 to 7 and 12: one user, or anonymous readers, ask for all that a process can compute."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace
from typing import Final

import anyio
import pytest
from bring_up import wait_for
from factories.clock import MovedClock
from factories.people import Person
from factories.ready_cluster import ReadyCluster
from factories.site import Site
from factories.slow_pages import locks_wanted, slow_campaigns
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from httpx2 import Response
from starlette.exceptions import HTTPException
from starlette.types import Message

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.heavy import UNKNOWN_READERS
from iotide_server.accounts.roles.page_holders import PageHolders
from iotide_server.change_feed import health
from iotide_server.kit.db import Database
from iotide_server.kit.one_each import MOST_WAITING, Holder, OneEach
from iotide_server.kit.turns import Turns
from iotide_server.kit.vault import Vault
from iotide_server.main import MOST_CHANNEL_TESTS
from iotide_server.notifications.deliveries import Office
from iotide_server.notifications.letters import Parcel
from iotide_server.notifications.sending import AttemptOutcome, Courier, Result
from iotide_server.results import reading

API: Final = "/api/v1"
MORE_THAN_THREADS: Final = 60
WEBHOOK_SECRET: Final = f"whsec_{b64encode(b's' * 32).decode()}"


@pytest.fixture
def known(client: TestClient, make_person: Callable[..., Person]) -> tuple[Person, Person]:
    """Return two users with tokens that were used before."""
    people = make_person("vi", Role.VIEWER), make_person("wo", Role.VIEWER)
    for person in people:
        assert client.get(f"{API}/clusters", headers=person.headers).status_code == 200
    return people


def test_the_health_is_looked_at_once_however_many_ask_and_takes_no_thread_of_pages(
    client: TestClient, database: Database, clock: MovedClock, admin: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []
    begun, may_end = Event(), Event()

    def look(of: Database) -> tuple[str, str, str]:
        looks.append(of)
        begun.set()
        may_end.wait(30)
        return "ok", "ok", "ok"

    monkeypatch.setattr(health, "_look_at_database", look)
    with ThreadPoolExecutor(MORE_THAN_THREADS) as pool:
        asked = [pool.submit(client.get, f"{API}/health") for _ in range(MORE_THAN_THREADS)]
        begun.wait(30)
        assert client.get(f"{API}/clusters", headers=admin.headers).status_code == 200
        may_end.set()
        assert {answer.result().json()["database"] for answer in asked} == {"ok"}
    assert looks == [database.heartbeats]
    clock.move(1)
    client.get(f"{API}/health")
    assert len(looks) == 2


def test_one_person_takes_one_place_and_others_are_answered(
    shared_app: FastAPI, client: TestClient, database: Database, known: tuple[Person, Person]
) -> None:
    greedy, other = known
    with ThreadPoolExecutor(MOST_WAITING + 1) as pool, slow_campaigns(database):
        asked = [pool.submit(client.get, f"{API}/campaigns", headers=greedy.headers) for _ in range(MOST_WAITING + 1)]
        wait_for("a list that waits", lambda: locks_wanted(database) or None)
        assert client.get(f"{API}/clusters", headers=other.headers).status_code == 200
        assert locks_wanted(database) == 1
        refused = wait_for("a refusal", lambda: refused_of(client, greedy, shared_app.state.one_each, asked))
        assert (refused.json()["error"]["code"], refused.headers["Retry-After"]) == ("too_many_at_once", "1")
    assert {answer.result().status_code for answer in asked} == {200}


def refused_of(client: TestClient, person: Person, one_each: OneEach, asked: list[Future[Response]]) -> Response | None:
    """Send another request while all others wait."""
    assert not any(answer.done() for answer in asked)
    if one_each.count(f"user {person.principal.user_id}") <= MOST_WAITING:
        return None
    answer = client.get(f"{API}/clusters", headers=person.headers)
    assert answer.status_code == 429
    return answer


def request_of(path: str = "/", *messages: Message, address: str = "10.0.0.1", token: str = "") -> Request:
    waiting = [{"type": "http.request", "body": b"", "more_body": False}, *messages]

    async def receive() -> Message:
        if not waiting:
            await anyio.sleep_forever()
        return waiting.pop(0)

    headers = [(b"authorization", token.encode())] if token else []
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "headers": headers,
        "client": (address, 1),
        "scheme": "http",
        "app": SimpleNamespace(state=SimpleNamespace(public_url="http://iotide")),
    }
    return Request(scope, receive)


def test_a_waiting_request_of_a_disconnected_client_is_not_computed() -> None:
    one_each, served = OneEach(lambda _: Holder("user 1")), []

    async def ask(name: str, request: Request, seconds: float) -> None:
        try:
            async with one_each.turn(request):
                served.append(name)
                await anyio.sleep(seconds)
        except HTTPException as error:
            served.append(str(error.detail))

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(ask, "first", request_of(), 0.01)
            await anyio.lowlevel.checkpoint()
            group.start_soon(ask, "gone", request_of("/", {"type": "http.disconnect"}), 0)
            group.start_soon(ask, "third", request_of(), 0)

    anyio.run(main)
    assert served == ["first", "the client has disconnected", "third"]
    assert one_each.count("user 1") == 0


def test_anonymous_readers_count_by_network() -> None:
    holders = PageHolders()
    of_one_customer = {holders.holder_of(request_of(address=f"2001:db8::{n}")) for n in (1, 2)}
    assert len(of_one_customer) == 1
    assert holders.holder_of(request_of(address="2001:db8:0:1::1")) not in of_one_customer
    assert holders.holder_of(request_of(token="Basic cHJveHk6cHJveHk=", address="2001:db8::1")) in of_one_customer


def test_all_anonymous_readers_share_one_heavy_slot(
    shared_app: FastAPI, client: TestClient, database: Database, clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.transaction() as session:
        ReadyCluster(session, clock())
    del client
    taken: list[str] = []

    def take(_: Turns, holder: str) -> bool:
        taken.append(holder)
        return True

    monkeypatch.setattr(Turns, "take", take)
    shared_app.state.public_read = True
    try:
        for number in (1, 2):
            reader = TestClient(shared_app, client=(f"2001:db8:{number}::1", 50000))
            reader.get(f"{API}/comparison?a=1&b=2")
    finally:
        shared_app.state.public_read = False
    assert taken.count(UNKNOWN_READERS) == 2


def test_a_heavy_request_waits_for_no_page_of_the_same_person(
    client: TestClient, database: Database, admin: Person
) -> None:
    assert client.get(f"{API}/clusters", headers=admin.headers).status_code == 200
    with ThreadPoolExecutor(1) as pool, slow_campaigns(database):
        page = pool.submit(client.get, f"{API}/campaigns", headers=admin.headers)
        wait_for("a list that waits", lambda: locks_wanted(database) or None)
        assert client.get(f"{API}/audit/export", headers=admin.headers).status_code == 200
        assert not page.done()


def test_curves_of_too_many_values_are_refused_before_they_are_read(
    client: TestClient, database: Database, clock: MovedClock, admin: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(database, clock)
    agent, offer = site.start_load()
    pieces = [{"counter": f"load{n}", "started_at": clock(), "step_seconds": 1.0, "values": [1.0] * 3} for n in (1, 2)]
    assert agent.hand_in(offer, agent.result(offer, curves=pieces)).accepted
    path = f"{API}/runs/{offer.run_id}/curves"
    assert len(client.get(path, headers=admin.headers).json()["items"]) == 2
    monkeypatch.setattr(reading, "MOST_PIECES", 1)
    refused = client.get(path, headers=admin.headers)
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (422, "curves_too_large")
    assert error["remedy"] == "request fewer counters or fewer points"
    assert client.get(path, params={"counter": "load1"}, headers=admin.headers).status_code == 200
    monkeypatch.setattr(reading, "MOST_POINTS", 599)
    assert client.get(path, params={"counter": "load1"}, headers=admin.headers).status_code == 422
    one = client.get(path, params={"counter": "load1", "max_points": 500}, headers=admin.headers)
    assert one.json()["items"][0]["values"] == [1.0, 1.0, 1.0]


@pytest.fixture
def with_vault(shared_app: FastAPI, client: TestClient, clock: MovedClock) -> Iterator[None]:
    """Return the API with a key for the secrets of channels."""
    del client
    state = shared_app.state
    before = state.vault, state.office
    state.vault = Vault(b64encode(b"v" * 32).decode())
    state.office = Office(state.vault, Courier(state.reach), "https://tide.example.org", clock)
    yield
    state.vault, state.office = before


def channel_test(client: TestClient, person: Person, name: str) -> str:
    """Create a channel; return its path for tests."""
    receiver = {"kind": "webhook", "url": f"https://hooks.example.org/{name}", "secret": WEBHOOK_SECRET}
    made = client.post(f"{API}/channels", json={"name": name, "receiver": receiver}, headers=person.headers)
    assert made.status_code == 201, made.text
    return f"{API}/channels/{made.json()['id']}/test"


@pytest.mark.usefixtures("with_vault")
def test_a_slow_receiver_of_a_test_message_keeps_no_page_waiting(
    client: TestClient,
    admin: Person,
    make_person: Callable[..., Person],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = channel_test(client, admin, "slow")
    begun, may_end = Event(), Event()

    def send(*_: object) -> AttemptOutcome:
        begun.set()
        may_end.wait(30)
        return AttemptOutcome(Result.DELIVERED, "200")

    monkeypatch.setattr(Office, "send", send)
    with ThreadPoolExecutor(3) as pool:
        tests = [pool.submit(client.post, path, headers=admin.headers) for _ in range(3)]
        begun.wait(30)
        assert client.get(f"{API}/clusters", headers=make_person("vi", Role.VIEWER).headers).status_code == 200
        may_end.set()
        assert [test.result().json()["delivered"] for test in tests] == [True] * 3


@pytest.mark.usefixtures("with_vault")
def test_one_administrator_s_tests_of_channels_leave_room_for_those_of_others(
    client: TestClient,
    admin: Person,
    make_person: Callable[..., Person],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = make_person("other", Role.ADMIN)
    paths = {person.token: channel_test(client, person, f"of-{person.principal.name}") for person in (admin, other)}
    urls: list[str] = []
    may_end = Event()

    def send(_: Office, parcel: Parcel) -> AttemptOutcome:
        urls.append(str(parcel.settings))
        may_end.wait(30)
        return AttemptOutcome(Result.DELIVERED, "200")

    monkeypatch.setattr(Office, "send", send)
    with ThreadPoolExecutor(MOST_CHANNEL_TESTS + 2) as pool:
        many = [
            pool.submit(client.post, paths[admin.token], headers=admin.headers) for _ in range(MOST_CHANNEL_TESTS + 1)
        ]
        try:
            wait_for("a test", lambda: urls or None, seconds=10)
            own = pool.submit(client.post, paths[other.token], headers=other.headers)
            wait_for("the other's", lambda: any("of-other" in url for url in urls) or None, seconds=10)
            assert len(urls) == 2
        finally:
            may_end.set()
        assert {test.result().status_code for test in [*many, own]} == {200}
    assert len(urls) == MOST_CHANNEL_TESTS + 2
