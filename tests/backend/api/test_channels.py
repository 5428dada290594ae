"""Channels over the API: settings, hidden secrets, access, and a test message that arrives."""

import base64
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from factories.clock import MovedClock
from factories.people import Person
from factories.receivers import WebReceiver, web_receiver
from fastapi import FastAPI
from fastapi.testclient import TestClient

from iotide_server.accounts.models import Role
from iotide_server.kit.vault import Vault
from iotide_server.notifications.addresses import Reach
from iotide_server.notifications.deliveries import Office
from iotide_server.notifications.sending import Courier

URL = "/api/v1/channels"
SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
KEY = base64.b64encode(b"v" * 32).decode()
MAIL = {"kind": "email", "host": "mail.example.org", "sender": "tide@example.org", "recipients": ["ada@example.org"]}
LOGIN = {"user": "tide", "password": "correct horse"}
CHAT = {"kind": "slack", "url": "https://hooks.slack.example/services/T0/B0/sesame"}
DOCS = Path(__file__).parents[3] / "docs" / "notifications.md"


@pytest.fixture
def client(client: TestClient, shared_app: FastAPI, clock: MovedClock) -> Iterator[TestClient]:
    """API of an installation that has a key, and may send messages to loopback."""
    state = shared_app.state
    before = state.vault, state.reach, state.office
    state.vault, state.reach = Vault(KEY), Reach(loopback=True)
    state.office = Office(state.vault, Courier(state.reach), "https://tide.example.org", clock)
    yield client
    state.vault, state.reach, state.office = before


@pytest.fixture
def hook() -> Iterator[WebReceiver]:
    with web_receiver() as receiver:
        yield receiver


@pytest.fixture
def cluster_ids(client: TestClient, admin: Person) -> list[int]:
    url = "/api/v1/clusters"
    return [client.post(url, json={"name": name}, headers=admin.headers).json()["id"] for name in ("blade", "rack")]


def make(client: TestClient, who: Person, receiver: dict[str, Any], **fields: object) -> dict[str, Any]:
    made = client.post(URL, json={"name": "people", "receiver": receiver, **fields}, headers=who.headers)
    assert made.status_code == 201, made.text
    body: dict[str, Any] = made.json()
    return body


def is_from_iotide(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """The example that the documentation gives to receivers."""
    code = DOCS.read_text().partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - our own documentation
    return bool(names["is_from_iotide"](secret, headers, body, now))


def test_a_test_arrives_signed_as_the_documentation_verifies_it(
    client: TestClient, admin: Person, hook: WebReceiver, clock: MovedClock
) -> None:
    made = make(client, admin, {"kind": "webhook", "url": f"{hook.url}/hooks?site=1", "secret": SECRET})
    answer = client.post(f"{URL}/{made['id']}/test", headers=admin.headers)
    assert answer.json() == {"delivered": True, "words": "HTTP 204"}
    (received,) = hook.received
    assert received.path == "/hooks?site=1"
    now = clock().timestamp()
    assert is_from_iotide(SECRET, received.headers, received.body, now)
    assert not is_from_iotide(SECRET, received.headers, received.body, now + 301)
    assert not is_from_iotide(SECRET, received.headers, received.body + b" ", now)
    (delivery,) = client.get(f"{URL}/{made['id']}/deliveries", headers=admin.headers).json()["items"]
    assert (delivery["kind"], delivery["state"]) == ("test", "delivered")
    assert delivery["attempts"] == [{"at": "2026-11-21T10:00:00Z", "words": "HTTP 204"}]
    assert client.get(f"{URL}/{made['id']}", headers=admin.headers).json()["delivered_at"] == "2026-11-21T10:00:00Z"


def test_a_failed_test_message_shows_why_and_is_not_repeated(
    client: TestClient, admin: Person, hook: WebReceiver
) -> None:
    hook.answer(503, body="down for\nmaintenance")
    made = make(client, admin, {"kind": "webhook", "url": hook.url, "secret": SECRET})
    words = "HTTP 503 Service Unavailable"
    answer = client.post(f"{URL}/{made['id']}/test", headers=admin.headers)
    assert answer.json() == {"delivered": False, "words": f"{words}: down for maintenance"}
    shown = client.get(f"{URL}/{made['id']}", headers=admin.headers).json()
    assert (shown["failure"], shown["failed_at"], shown["delivered_at"]) == (words, "2026-11-21T10:00:00Z", None)
    (delivery,) = client.get(f"{URL}/{made['id']}/deliveries", headers=admin.headers).json()["items"]
    assert (delivery["state"], delivery["due_at"]) == ("failed", None)


@pytest.mark.parametrize(
    ("receiver", "shown"),
    [
        (CHAT, {"kind": "slack", "host": "hooks.slack.example", "has_url": True}),
        (CHAT | {"kind": "mattermost"}, {"kind": "mattermost", "host": "hooks.slack.example", "has_url": True}),
        (MAIL | LOGIN, {**MAIL, "port": 587, "tls": "starttls", "user": "tide", "has_password": True}),
        (MAIL, {**MAIL, "port": 587, "tls": "starttls", "user": None, "has_password": False}),
    ],
)
def test_a_secret_goes_in_stays_when_it_is_left_out_and_never_comes_out(
    client: TestClient, admin: Person, receiver: dict[str, Any], shown: dict[str, Any]
) -> None:
    made = make(client, admin, receiver)
    left_out = {name: value for name, value in receiver.items() if name not in ("url", "password")}
    changed = client.put(f"{URL}/{made['id']}", json={"name": "others", "receiver": left_out}, headers=admin.headers)
    assert (made["receiver"], changed.json()["receiver"], changed.json()["name"]) == (shown, shown, "others")
    audit = client.get("/api/v1/audit", headers=admin.headers).text
    assert "channel_changed" in audit
    assert not any(secret in audit + changed.text for secret in ("sesame", "correct horse"))


@pytest.mark.parametrize("other", [{"host": "elsewhere.example.org"}, {"port": 465}, {"user": "root"}, {"tls": "tls"}])
def test_a_password_is_not_sent_to_another_server_than_it_was_given_for(
    client: TestClient, admin: Person, other: dict[str, Any]
) -> None:
    made = make(client, admin, MAIL | LOGIN)
    receiver = MAIL | {"user": "tide"} | other
    body = {"name": "people", "receiver": receiver}
    answer = client.put(f"{URL}/{made['id']}", json=body, headers=admin.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "channel_secret_missing")
    body["receiver"] = receiver | {"password": "new"}
    assert client.put(f"{URL}/{made['id']}", json=body, headers=admin.headers).status_code == 200


@pytest.mark.parametrize(
    ("fields", "status", "code", "field"),
    [
        (
            {"receiver": {"kind": "webhook", "url": "https://a.example"}},
            422,
            "channel_secret_missing",
            "receiver.secret",
        ),
        ({"receiver": {"kind": "slack"}}, 422, "channel_secret_missing", "receiver.url"),
        ({"receiver": MAIL | LOGIN | {"tls": "none"}}, 422, "invalid_input", "receiver.tls"),
        ({"receiver": MAIL | {"password": "x"}}, 422, "invalid_input", "receiver.user"),
        ({"receiver": MAIL | {"recipients": ["a@b\nBcc: c@d"]}}, 422, "invalid_input", "receiver.email.recipients[0]"),
        ({"receiver": CHAT | {"url": "ftp://a.example"}}, 422, "invalid_input", "receiver.slack.url"),
        ({"receiver": CHAT | {"url": "http://a.example:99999/"}}, 422, "invalid_input", "receiver.url"),
        ({"receiver": CHAT | {"url": "http://[::1"}}, 422, "invalid_input", "receiver.url"),
        ({"receiver": CHAT | {"url": "http://user:word@a.example/"}}, 422, "invalid_input", "receiver.url"),
        ({"receiver": CHAT | {"url": "http://169.254.169.254/"}}, 422, "address_refused", "receiver.url"),
        ({"receiver": MAIL | {"host": "0.0.0.0"}}, 422, "address_refused", "receiver.host"),  # noqa: S104
        ({"cluster_id": 999}, 404, "cluster_not_found", "cluster_id"),
        (
            {"quiet_hours": {"from": "22:00", "until": "06:00", "time_zone": "Europe/Zuerich"}},
            422,
            "time_zone_unknown",
            "quiet_hours.time_zone",
        ),
        (
            {"digest": {"weekday": "monday", "hour": 8, "time_zone": "Mars"}},
            422,
            "time_zone_unknown",
            "digest.time_zone",
        ),
    ],
)
def test_an_invalid_channel_is_refused_with_its_field(
    client: TestClient, admin: Person, fields: dict[str, Any], status: int, code: str, field: str
) -> None:
    answer = client.post(URL, json={"name": "people", "receiver": MAIL, **fields}, headers=admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (status, code, field)
    assert error["remedy"]


def test_names_are_taken_within_a_cluster_and_within_all(
    client: TestClient, admin: Person, cluster_ids: list[int]
) -> None:
    for cluster_id in (None, *cluster_ids):
        make(client, admin, MAIL, cluster_id=cluster_id)
        again = {"name": "people", "receiver": MAIL, "cluster_id": cluster_id}
        answer = client.post(URL, json=again, headers=admin.headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "channel_name_taken")
    other = make(client, admin, MAIL, name="others")
    taken = client.put(f"{URL}/{other['id']}", json={"name": "people", "receiver": MAIL}, headers=admin.headers)
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "channel_name_taken")


def test_administrators_make_channels_and_operators_see_those_they_may_use(
    client: TestClient, admin: Person, make_person: Callable[..., Person], cluster_ids: list[int], hook: WebReceiver
) -> None:
    everywhere = make(client, admin, {"kind": "webhook", "url": hook.url, "secret": SECRET})
    own, other = (make(client, admin, MAIL, cluster_id=cluster_id) for cluster_id in cluster_ids)
    boss = make_person("bo", Role.ADMIN, cluster_ids[0])
    operator = make_person("otto", Role.OPERATOR, cluster_ids[0])
    viewer = make_person("vera", Role.VIEWER, cluster_ids[0])

    def call(who: Person, method: str, channel: dict[str, Any], path: str = "", body: object = None) -> int:
        return client.request(method, f"{URL}/{channel['id']}{path}", json=body, headers=who.headers).status_code

    for who in (boss, operator):
        listed = client.get(URL, headers=who.headers).json()["items"]
        assert [shown["id"] for shown in listed] == [own["id"], everywhere["id"]]
        assert [call(who, "GET", channel) for channel in (own, everywhere, other)] == [200, 200, 404]
    assert client.get(URL, headers=viewer.headers).status_code == 403
    body = {"name": "people", "receiver": MAIL}
    assert [call(boss, "PUT", channel, body=body) for channel in (own, everywhere, other)] == [200, 403, 404]
    assert [call(operator, "PUT", channel, body=body) for channel in (own, everywhere)] == [403, 403]
    assert [call(boss, "POST", channel, "/test") for channel in (everywhere, other)] == [403, 404]
    assert [call(operator, "DELETE", own), call(boss, "DELETE", own), call(boss, "DELETE", everywhere)] == [
        403,
        204,
        403,
    ]
    assert client.post(URL, json={**body, "cluster_id": None}, headers=boss.headers).status_code == 403
    assert client.post(URL, json={**body, "cluster_id": cluster_ids[0]}, headers=boss.headers).status_code == 201


def test_a_channel_that_rules_send_to_is_not_removed_and_they_are_named(
    client: TestClient, admin: Person, cluster_ids: list[int]
) -> None:
    used = make(client, admin, MAIL, cluster_id=cluster_ids[0])
    rule = {"cluster": "blade", "name": "writes", "channel_ids": [used["id"]]}
    made = client.post("/api/v1/alert-rules", json=rule, headers=admin.headers)
    assert made.status_code == 201, made.text
    error = client.delete(f"{URL}/{used['id']}", headers=admin.headers).json()["error"]
    assert (error["code"], error["message"]) == ("channel_in_use", "alert rules use channel people: writes")
    assert client.delete(f"/api/v1/alert-rules/{made.json()['id']}", headers=admin.headers).status_code < 300
    assert client.delete(f"{URL}/{used['id']}", headers=admin.headers).status_code == 204


def test_quiet_hours_and_the_digests_next_hour_are_shown(client: TestClient, admin: Person) -> None:
    quiet = {"from": "22:00", "until": "06:00", "time_zone": "Europe/Zurich"}
    digest = {"weekday": "monday", "hour": 8, "time_zone": "Europe/Zurich"}
    made = make(client, admin, MAIL, quiet_hours=quiet, digest=digest)
    assert (made["quiet_hours"], made["digest"]) == (quiet, digest)
    assert made["digest_due_at"] == "2026-11-23T07:00:00Z"
    body = {"name": "people", "receiver": MAIL}
    changed = client.put(f"{URL}/{made['id']}", json=body, headers=admin.headers).json()
    assert [changed[field] for field in ("quiet_hours", "digest", "digest_due_at")] == [None] * 3


def test_without_a_key_no_secret_is_taken(client: TestClient, admin: Person, shared_app: FastAPI) -> None:
    shared_app.state.vault = None
    answer = client.post(URL, json={"name": "people", "receiver": MAIL | LOGIN}, headers=admin.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "vault_key_missing")
    make(client, admin, MAIL)
