"""People and their tokens, as administrators list and revoke them over the API."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from factories.announced import NOW
from factories.clock import MovedClock
from factories.people import Person
from factories.ready_cluster import ReadyCluster
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.accounts.sessions import service as sessions
from iotide_server.kit.db import Database, Json

API = "/api/v1"
CSRF = {"X-Iotide-Csrf": "1"}


def error(response: Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def signed_in(client: TestClient, database: Database) -> TestClient:
    """A browser, signed in as the first administrator."""
    with database.transaction() as session:
        secret = sessions.admin_link(session, "http://127.0.0.1", NOW).partition("#token=")[2]
    assert client.post(f"{API}/session/link", json={"token": secret}).status_code == 200
    return client


@pytest.fixture
def grace(make_person: Callable[..., Person]) -> Person:
    return make_person("grace", Role.OPERATOR)


def make_token(client: TestClient, **expiry: object) -> Json:
    made = client.post(f"{API}/tokens", json={"name": "ci", "scopes": ["read"], **expiry}, headers=CSRF)
    assert made.status_code == 201, made.text
    body: Json = made.json()
    return body


@pytest.mark.parametrize(
    ("expiry", "days"),
    [({}, 90), ({"expires_at": (NOW + timedelta(days=2)).isoformat()}, 2), ({"expires_at": None}, None)],
)
def test_a_token_ends_after_ninety_days_unless_another_end_or_none_is_chosen(
    signed_in: TestClient, expiry: Json, days: int | None
) -> None:
    ends = make_token(signed_in, **expiry)["expires_at"]
    assert ends == (None if days is None else (NOW + timedelta(days=days)).isoformat().replace("+00:00", "Z"))


def test_a_token_shows_time_and_address_of_its_last_use(signed_in: TestClient) -> None:
    secret = make_token(signed_in)["token"]
    (unused,) = signed_in.get(f"{API}/tokens").json()["items"]
    assert (unused["last_used_at"], unused["last_used_address"], unused["user_name"]) == (None, None, "admin")
    assert signed_in.get(f"{API}/clusters", headers=bearer(secret)).status_code == 200
    (used,) = signed_in.get(f"{API}/tokens").json()["items"]
    assert (used["last_used_at"], used["last_used_address"]) == ("2026-11-21T10:00:00Z", "testclient")


def test_the_holder_of_an_expired_token_is_informed(signed_in: TestClient, clock: MovedClock) -> None:
    secret = make_token(signed_in)["token"]
    clock.move(90 * 86_400)
    refused = signed_in.get(f"{API}/clusters", headers=bearer(secret))
    assert error(refused) == (401, "token_expired")
    assert "expired on 2027-02-19" in refused.json()["error"]["message"]


def test_an_administrator_sees_and_revokes_the_tokens_of_others(signed_in: TestClient, grace: Person) -> None:
    (hers,) = signed_in.get(f"{API}/tokens?whose=all").json()["items"]
    assert (hers["user_name"], hers["name"]) == ("grace", "test")
    assert signed_in.delete(f"{API}/tokens/{hers['id']}", headers=CSRF).status_code == 204
    assert signed_in.get(f"{API}/session", headers=grace.headers).status_code == 401
    (entry,) = signed_in.get(f"{API}/audit?action=token_revoked").json()["items"]
    assert (entry["principal_name"], entry["before"]["of"]) == ("admin", "grace")


def test_users_do_not_see_the_tokens_of_others(client: TestClient, grace: Person) -> None:
    assert error(client.get(f"{API}/tokens?whose=all", headers=grace.headers)) == (403, "not_allowed")


def user(client: TestClient, name: str) -> Json:
    return next(one for one in client.get(f"{API}/users").json()["items"] if one["name"] == name)


def test_a_disabled_user_loses_sessions_and_tokens_and_their_schedules_pause(
    signed_in: TestClient, database: Database, grace: Person
) -> None:
    with database.transaction() as session:
        plan = ReadyCluster(session, NOW).plan()
    body = {"name": "nightly", "plan": plan, "cron": "30 2 * * *", "time_zone": "Europe/Zurich"}
    schedule = signed_in.post(f"{API}/schedules", json=body, headers=grace.headers).json()["id"]
    before = user(signed_in, "grace")
    assert (before["token_count"], before["schedule_count"]) == (1, 1)
    assert before["last_seen_at"] == "2026-11-21T10:00:00Z"

    change = {"roles": before["roles"], "disabled": True}
    after = signed_in.put(f"{API}/users/{before['id']}", json=change, headers=CSRF).json()
    assert (after["session_count"], after["token_count"], after["schedule_count"]) == (0, 0, 0)
    assert signed_in.get(f"{API}/schedules/{schedule}").json()["state"] == "paused"
    assert error(signed_in.post(f"{API}/users/{before['id']}/link", headers=CSRF)) == (409, "user_disabled")

    back = signed_in.put(f"{API}/users/{before['id']}", json=change | {"disabled": False}, headers=CSRF).json()
    assert (back["disabled_at"], back["token_count"]) == (None, 0)
    assert signed_in.get(f"{API}/session", headers=grace.headers).status_code == 401
    did = [entry["action"] for entry in signed_in.get(f"{API}/audit?actor=admin").json()["items"]]
    assert did[:4] == ["user_changed", "schedule_paused", "token_revoked", "user_changed"]


def test_an_unspent_link_of_who_is_disabled_opens_nothing_later(
    signed_in: TestClient, database: Database, make_person: Callable[..., Person]
) -> None:
    make_person("grace", Role.OPERATOR)
    found = user(signed_in, "grace")
    url = signed_in.post(f"{API}/users/{found['id']}/link", headers=CSRF).json()["url"]
    for disabled in (True, False):
        change: dict[str, Any] = {"roles": [], "disabled": disabled}
        signed_in.put(f"{API}/users/{found['id']}", json=change, headers=CSRF)
    spent = signed_in.post(f"{API}/session/link", json={"token": url.partition("#token=")[2]})
    assert error(spent) == (401, "link_spent")
    with database.transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM login_link WHERE used_at IS NULL")) == 0
