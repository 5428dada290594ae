"""Browser sessions over HTTP: cookie, sign-in link, list, and sign-out."""

from collections.abc import Callable, Iterator

import pytest
from factories.announced import NOW
from factories.clock import MovedClock
from factories.people import Person
from fastapi import FastAPI
from fastapi.testclient import TestClient
from httpx2 import Response

from iotide_server.accounts.models import Role
from iotide_server.accounts.sessions import service as sessions
from iotide_server.accounts.sessions.throttle import MOST_OF_NAME_AND_NETWORK, MOST_OF_NETWORK
from iotide_server.kit.db import Database
from iotide_server.kit.proxies import behind_proxies
from iotide_wire.versions import WIRE_VERSION

CSRF = {"X-Iotide-Csrf": "1"}
PASSWORD = "correct horse battery"
COOKIE = "iotide_session"
ENROLMENT = {
    "wire_version": WIRE_VERSION,
    "join_token": "invented-by-somebody",
    "node_name": "n1",
    "role": "compute",
    "agent_version": "1",
}


def error(response: Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


@pytest.fixture
def enter(client: TestClient, database: Database) -> Callable[..., str]:
    """Sign a user in by a link, in a browser that holds no cookie or `held`; return the cookie."""

    def sign_in(user_id: int | None = None, held: str | None = None) -> str:
        with database.transaction() as session:
            link = (
                sessions.admin_link(session, "", NOW)
                if user_id is None
                else sessions.make_link(session, user_id, "", NOW)
            )
        client.cookies.clear()
        if held is not None:
            client.cookies.set(COOKIE, held, domain="testserver.local", path="/")
        body = {"token": link.partition("#token=")[2]}
        assert client.post("/api/v1/session/link", json=body).status_code == 200
        return client.cookies[COOKIE]

    return sign_in


def status(client: TestClient, cookie: str) -> int:
    client.cookies.clear()
    return client.get("/api/v1/session", headers={"Cookie": f"{COOKIE}={cookie}"}).status_code


def test_a_cookie_from_before_the_sign_in_is_never_taken_over(client: TestClient, enter: Callable[..., str]) -> None:
    assert enter(held="planted-by-somebody") != "planted-by-somebody"
    assert status(client, "planted-by-somebody") == 401
    first = enter()
    second = enter(held=first)
    assert second != first
    assert (status(client, first), status(client, second)) == (401, 200)


def test_the_cookie_is_exchanged_on_the_way_and_requests_that_were_under_way_go_on(
    client: TestClient, enter: Callable[..., str], clock: MovedClock
) -> None:
    first = enter()
    clock.move(3600)
    refused = client.post("/api/v1/clusters", json={"name": "c1"})
    assert error(refused) == (403, "csrf_header_missing")
    assert "set-cookie" not in refused.headers, "the browser gets no cookie of a rolled-back session"
    assert client.get("/api/v1/clusters").headers["set-cookie"].startswith(f"{COOKIE}=")
    second = client.cookies[COOKIE]
    assert second != first
    assert client.get("/api/v1/session").status_code == 200
    assert status(client, first) == 200
    clock.move(60)
    assert (status(client, first), status(client, second)) == (401, 200)


def test_a_password_change_exchanges_the_cookie(
    client: TestClient, enter: Callable[..., str], clock: MovedClock
) -> None:
    first = enter()
    body = {"old_password": None, "new_password": PASSWORD}
    assert client.put("/api/v1/session/password", json=body, headers=CSRF).status_code == 204
    second = client.cookies[COOKIE]
    clock.move(60)
    assert (status(client, first), status(client, second)) == (401, 200)


def test_a_password_change_leaves_a_browser_with_a_cookie_due_for_exchange_signed_in(
    client: TestClient, enter: Callable[..., str], clock: MovedClock
) -> None:
    enter()
    clock.move(3600)
    body = {"old_password": None, "new_password": PASSWORD}
    assert client.put("/api/v1/session/password", json=body, headers=CSRF).status_code == 204
    assert client.get("/api/v1/session").status_code == 200


def test_a_password_change_ends_unused_links(client: TestClient, enter: Callable[..., str], database: Database) -> None:
    enter()
    own_id = client.get("/api/v1/session").json()["principal"]["id"]
    with database.transaction() as session:
        unspent = sessions.make_link(session, own_id, "", NOW).partition("#token=")[2]
    body = {"old_password": None, "new_password": PASSWORD}
    assert client.put("/api/v1/session/password", json=body, headers=CSRF).status_code == 204
    client.cookies.clear()
    assert error(client.post("/api/v1/session/link", json={"token": unspent})) == (401, "link_spent")


def test_one_s_sessions_are_listed_and_ended(client: TestClient, enter: Callable[..., str]) -> None:
    cookies = [enter() for _ in range(3)]
    items = client.get("/api/v1/sessions", headers={"User-Agent": "Firefox"}).json()["items"]
    assert [(item["is_this_one"], item["begun_by"], item["address"]) for item in items] == [
        (True, "link", "testclient"),
        (False, "link", "testclient"),
        (False, "link", "testclient"),
    ]
    assert not any(cookie in client.get("/api/v1/sessions").text for cookie in cookies)
    url = f"/api/v1/sessions/{items[2]['id']}"
    assert client.delete(url, headers=CSRF).status_code == 204
    assert error(client.delete(url, headers=CSRF)) == (404, "session_not_found")
    assert client.delete("/api/v1/sessions", headers=CSRF).json() == {"count": 1}
    assert [status(client, cookie) for cookie in cookies] == [401, 401, 200]


def test_sessions_of_others_are_not_there(
    client: TestClient, enter: Callable[..., str], make_person: Callable[..., Person]
) -> None:
    grace = make_person("grace", Role.VIEWER)
    enter()
    own = client.get("/api/v1/sessions").json()["items"][0]["id"]
    enter(grace.principal.id)
    assert error(client.delete(f"/api/v1/sessions/{own}", headers=CSRF)) == (404, "session_not_found")
    client.cookies.clear()
    assert error(client.get("/api/v1/sessions", headers=grace.headers)) == (403, "person_wanted")


@pytest.mark.parametrize("how", ["ended", "reset", "disabled"])
def test_an_administrator_ends_all_sessions_of_a_user_at_once(
    client: TestClient, enter: Callable[..., str], admin: Person, make_person: Callable[..., Person], how: str
) -> None:
    grace = make_person("grace", Role.VIEWER)
    cookie = enter(grace.principal.id)
    enter()
    url = f"/api/v1/users/{grace.principal.id}"
    match how:
        case "ended":
            assert client.delete(f"{url}/sessions", headers=CSRF).json() == {"count": 1}
        case "reset":
            older = client.post(f"{url}/link", headers=CSRF).json()["url"]
            assert "#token=" in client.post(f"{url}/password-reset", headers=CSRF).json()["url"]
            spent = client.post("/api/v1/session/link", json={"token": older.partition("#token=")[2]})
            assert error(spent) == (401, "link_spent"), "older links are invalid, too"
        case _:
            client.put(url, json={"roles": [], "disabled": True}, headers=CSRF)
            in_vain = client.post(f"{url}/password-reset", headers=CSRF)
            assert error(in_vain) == (409, "user_disabled"), "its link would open nothing"
            client.put(url, json={"roles": [], "disabled": False}, headers=CSRF)
    assert status(client, cookie) == 401
    reset = client.post(f"{url}/password-reset", headers=admin.headers)
    assert error(reset) == (403, "person_wanted"), "a token that leaked becomes no session"


def test_too_many_failures_return_the_time_to_wait(client: TestClient, clock: MovedClock) -> None:
    body = {"name": "grace", "password": "guessed"}
    for _ in range(MOST_OF_NAME_AND_NETWORK):
        assert error(client.post("/api/v1/session", json=body)) == (401, "wrong_credentials")
    refused = client.post("/api/v1/session", json=body)
    assert error(refused) == (429, "too_many_attempts")
    assert refused.headers["retry-after"] == "900"
    assert "900 s" in refused.json()["error"]["message"]
    assert refused.json()["error"]["remedy"]
    clock.move(900)
    assert error(client.post("/api/v1/session", json=body)) == (401, "wrong_credentials")


def test_links_and_join_tokens_are_not_tried_without_end(client: TestClient) -> None:
    for path, body in [
        ("/api/v1/session/link", {"token": "invented"}),
        ("/api/v1/agent/enroll", ENROLMENT),
    ]:
        answers = [client.post(path, json=body) for _ in range(MOST_OF_NETWORK + 1)]
        assert {response.status_code for response in answers[:-1]} == {401}, answers[0].text
        assert error(answers[-1]) == (429, "too_many_attempts")


@pytest.fixture
def by_https(shared_app: FastAPI, client: TestClient) -> Iterator[TestClient]:
    before, shared_app.state.public_url = shared_app.state.public_url, "https://iotide.example.org"
    client.base_url = "https://iotide.example.org"
    yield client
    shared_app.state.public_url = before


def test_the_cookie_is_bound_to_the_host_with_https(by_https: TestClient, database: Database) -> None:
    with database.transaction() as session:
        secret = sessions.admin_link(session, "", NOW).partition("#token=")[2]
    response = by_https.post("/api/v1/session/link", json={"token": secret})
    cookie = response.headers["set-cookie"]
    assert cookie.startswith("__Host-iotide_session=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=strict"} <= {part.strip() for part in cookie.split(";")}
    assert "domain" not in cookie.lower()
    value = by_https.cookies["__Host-iotide_session"]
    assert by_https.get("/api/v1/session").status_code == 200
    by_https.cookies.clear()
    plain = by_https.get("/api/v1/session", headers={"Cookie": f"{COOKIE}={value}"})
    assert plain.status_code == 401, "a neighbouring host could have planted it"


@pytest.mark.parametrize(
    ("trusted", "peer", "said", "address"),
    [
        ("", "127.0.0.1", "192.0.2.7", "127.0.0.1"),
        ("10.0.0.0/24", "10.0.0.9", "192.0.2.7", "192.0.2.7"),
        ("10.0.0.0/24", "10.0.1.9", "192.0.2.7", "10.0.1.9"),
        ("10.0.0.0/24", "10.0.0.9", "203.0.113.1, 192.0.2.7, 10.0.0.8", "192.0.2.7"),
    ],
    ids=["no proxy", "the proxy", "another host", "the address before the first proxy"],
)
def test_only_a_trusted_proxy_names_the_origin_of_a_request(
    shared_app: FastAPI, database: Database, clock: MovedClock, trusted: str, peer: str, said: str, address: str
) -> None:
    shared_app.state.database, shared_app.state.clock = database, clock
    client = TestClient(behind_proxies(shared_app, trusted), client=(peer, 5000))
    with database.transaction() as session:
        secret = sessions.admin_link(session, "", NOW).partition("#token=")[2]
    client.post("/api/v1/session/link", json={"token": secret}, headers={"X-Forwarded-For": said})
    assert client.get("/api/v1/sessions").json()["items"][0]["address"] == address
    entry = client.get("/api/v1/audit").json()["items"][0]
    assert (entry["action"], entry["address"]) == ("signed_in", address)
