from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256

import pytest
from factories.announced import NOW
from factories.clock import MovedClock
from factories.clusters import make_cluster
from factories.people import Person
from fastapi.testclient import TestClient
from httpx2 import Response

from iotide_server.accounts.models import Role
from iotide_server.accounts.sessions import service as sessions
from iotide_server.kit.db import Database, Json

CSRF = {"X-Iotide-Csrf": "1"}
PASSWORD = "correct horse battery"


def error(response: Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def link_secret(database: Database) -> str:
    with database.transaction() as session:
        return sessions.admin_link(session, "http://127.0.0.1", NOW).partition("#token=")[2]


def sign_in(client: TestClient, database: Database) -> Json:
    response = client.post("/api/v1/session/link", json={"token": link_secret(database)})
    assert response.status_code == 200
    principal: Json = response.json()["principal"]
    return principal


def test_a_link_gives_a_session_that_scripts_cannot_read(client: TestClient, database: Database) -> None:
    response = client.post("/api/v1/session/link", json={"token": link_secret(database)})
    cookie = response.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "Secure" not in cookie, "plain HTTP on loopback would lose it"
    assert response.json()["principal"] | {"id": 0} == {
        "kind": "user",
        "id": 0,
        "name": "admin",
        "roles": [{"cluster_id": None, "role": "admin"}],
    }
    assert client.get("/api/v1/session").json() == response.json()


def test_a_spent_link_and_a_wrong_password_are_401(client: TestClient, database: Database) -> None:
    secret = link_secret(database)
    client.post("/api/v1/session/link", json={"token": secret})
    assert error(client.post("/api/v1/session/link", json={"token": secret})) == (401, "link_spent")
    wrong = client.post("/api/v1/session", json={"name": "admin", "password": "wrong"})
    assert error(wrong) == (401, "wrong_credentials")


def test_a_change_by_cookie_needs_the_header_that_other_sites_cannot_send(
    client: TestClient, database: Database
) -> None:
    sign_in(client, database)
    assert error(client.post("/api/v1/clusters", json={"name": "c1"})) == (403, "csrf_header_missing")
    assert error(client.delete("/api/v1/session")) == (403, "csrf_header_missing")
    assert client.post("/api/v1/clusters", json={"name": "c1"}, headers=CSRF).status_code == 201


def test_signing_out_ends_the_session(client: TestClient, database: Database) -> None:
    sign_in(client, database)
    cookie = client.cookies["iotide_session"]
    assert client.delete("/api/v1/session", headers=CSRF).json() == {"provider_url": None}
    assert "iotide_session" not in client.cookies
    assert error(client.get("/api/v1/session", headers={"Cookie": f"iotide_session={cookie}"})) == (
        401,
        "not_authenticated",
    )


def test_a_session_ends_when_it_is_idle(client: TestClient, database: Database, clock: MovedClock) -> None:
    sign_in(client, database)
    clock.move(6 * 86_400)
    assert client.get("/api/v1/session").status_code == 200
    clock.move(8 * 86_400)
    assert client.get("/api/v1/session").status_code == 401


def test_a_password_opens_the_next_session(client: TestClient, database: Database) -> None:
    sign_in(client, database)
    body = {"old_password": None, "new_password": PASSWORD}
    assert client.put("/api/v1/session/password", json=body, headers=CSRF).status_code == 204
    client.cookies.clear()
    response = client.post("/api/v1/session", json={"name": "admin", "password": PASSWORD})
    assert response.status_code == 200
    assert client.get("/api/v1/session").status_code == 200


def test_a_short_password_is_refused_without_repeating_it(client: TestClient, database: Database) -> None:
    sign_in(client, database)
    body = {"old_password": None, "new_password": "short-one"}
    response = client.put("/api/v1/session/password", json=body, headers=CSRF)
    assert error(response) == (422, "invalid_input")
    assert response.json()["error"]["field"] == "new_password"
    assert "short-one" not in response.text


def test_a_token_is_shown_once_and_limited_to_its_scopes(client: TestClient, database: Database) -> None:
    sign_in(client, database)
    made = client.post("/api/v1/tokens", json={"name": "ci", "scopes": ["read"]}, headers=CSRF)
    assert made.status_code == 201
    token = made.json().pop("token")
    assert token.startswith("iot_")
    assert token not in client.get("/api/v1/tokens").text
    client.cookies.clear()
    bearer = {"Authorization": f"Bearer {token}"}
    assert client.get("/api/v1/session", headers=bearer).json()["principal"]["kind"] == "token"
    assert client.get("/api/v1/clusters", headers=bearer).status_code == 200
    assert error(client.post("/api/v1/clusters", json={"name": "c1"}, headers=bearer)) == (403, "not_allowed")


def login(now: datetime, **changes: object) -> dict[str, object]:
    digest = sha256(b"iot_chosen-by-the-command").hexdigest()
    usual = {"name": "iotide on login1", "scopes": ["read"], "secret_sha256": digest, "asked_at": now.isoformat()}
    return usual | changes


def test_a_confirmed_login_makes_the_commands_secret_a_token_once(
    client: TestClient, database: Database, clock: MovedClock
) -> None:
    bearer = {"Authorization": "Bearer iot_chosen-by-the-command"}
    assert error(client.get("/api/v1/session", headers=bearer)) == (401, "not_authenticated")
    sign_in(client, database)
    made = client.post("/api/v1/tokens/login", json=login(clock()), headers=CSRF)
    assert (made.status_code, "token" in made.json()) == (201, False)
    assert client.get("/api/v1/session", headers=bearer).json()["principal"]["kind"] == "token"
    assert error(client.post("/api/v1/tokens/login", json=login(clock()), headers=CSRF)) == (409, "login_used")
    client.delete(f"/api/v1/tokens/{made.json()['id']}", headers=CSRF)
    assert client.get("/api/v1/session", headers=bearer).status_code == 401
    assert error(client.post("/api/v1/tokens/login", json=login(clock()), headers=CSRF)) == (409, "login_used")


@pytest.mark.parametrize("minutes", [-11, 11])
def test_a_login_is_valid_for_ten_minutes(
    client: TestClient, database: Database, clock: MovedClock, minutes: int
) -> None:
    sign_in(client, database)
    body = login(clock() + timedelta(minutes=minutes))
    refused = client.post("/api/v1/tokens/login", json=body, headers=CSRF)
    assert error(refused) == (422, "login_expired")
    assert "run `iotide login` again" in refused.json()["error"]["remedy"]


def test_a_token_confirms_no_login(client: TestClient, admin: Person, clock: MovedClock) -> None:
    refused = client.post("/api/v1/tokens/login", json=login(clock()), headers=admin.headers)
    assert error(refused) == (403, "person_wanted")


def test_a_revoked_token_opens_nothing(client: TestClient, database: Database) -> None:
    sign_in(client, database)
    made = client.post("/api/v1/tokens", json={"name": "ci", "scopes": ["read"]}, headers=CSRF).json()
    assert client.delete(f"/api/v1/tokens/{made['id']}", headers=CSRF).status_code == 204
    assert error(client.delete(f"/api/v1/tokens/{made['id']}", headers=CSRF)) == (404, "token_not_found")
    assert client.get("/api/v1/tokens").json()["items"] == []
    client.cookies.clear()
    assert client.get("/api/v1/session", headers={"Authorization": f"Bearer {made['token']}"}).status_code == 401


def test_a_token_makes_and_revokes_no_tokens(client: TestClient, admin: Person) -> None:
    body = {"name": "stronger", "scopes": ["admin"]}
    assert error(client.post("/api/v1/tokens", json=body, headers=admin.headers)) == (403, "person_wanted")
    own = client.get("/api/v1/tokens", headers=admin.headers).json()["items"][0]["id"]
    assert error(client.delete(f"/api/v1/tokens/{own}", headers=admin.headers)) == (403, "person_wanted")


def test_one_s_tokens_are_one_s_own(client: TestClient, database: Database, make_person: Callable[..., Person]) -> None:
    hers = make_person("grace", Role.VIEWER)
    with database.transaction() as session:
        cluster_id = make_cluster(session).id
    other = make_person("hopper", Role.ADMIN, cluster_id)
    with database.transaction() as session:
        secret = sessions.make_link(session, other.principal.id or 0, "http://127.0.0.1", NOW).partition("#token=")[2]
    client.post("/api/v1/session/link", json={"token": secret})
    (own,) = client.get("/api/v1/tokens").json()["items"]
    assert own["user_name"] == "hopper"
    known = client.get("/api/v1/tokens", headers=hers.headers).json()["items"][0]["id"]
    assert error(client.delete(f"/api/v1/tokens/{known}", headers=CSRF)) == (404, "token_not_found")


def test_a_second_person_gets_in_by_a_link_with_the_roles_given(
    client: TestClient, database: Database, admin: Person
) -> None:
    with database.transaction() as session:
        cluster_id = make_cluster(session).id
    roles = [{"cluster_id": cluster_id, "role": "operator"}]
    made = client.post("/api/v1/users", json={"name": "grace", "roles": roles}, headers=admin.headers)
    assert made.status_code == 201
    sign_in(client, database)
    link = client.post(f"/api/v1/users/{made.json()['id']}/link", headers=CSRF).json()["url"]
    client.cookies.clear()
    principal = client.post("/api/v1/session/link", json={"token": link.partition("#token=")[2]}).json()["principal"]
    assert (principal["name"], principal["roles"]) == ("grace", roles)
    assert [user["name"] for user in client.get("/api/v1/users", headers=admin.headers).json()["items"]] == [
        "grace",
        "ada",
    ]


def test_a_changed_role_holds_at_once_and_a_disabled_person_is_out(
    client: TestClient, admin: Person, make_person: Callable[..., Person]
) -> None:
    grace = make_person("grace", Role.VIEWER)
    url = f"/api/v1/users/{grace.principal.id}"
    roles = [{"cluster_id": None, "role": "admin"}]
    client.put(url, json={"roles": roles, "disabled": False}, headers=admin.headers)
    assert client.post("/api/v1/clusters", json={"name": "c1"}, headers=grace.headers).status_code == 201
    client.put(url, json={"roles": roles, "disabled": True}, headers=admin.headers)
    assert client.get("/api/v1/session", headers=grace.headers).status_code == 401


@pytest.mark.parametrize(
    ("name", "roles", "refusal"),
    [
        ("ada", [], (409, "user_name_taken")),
        ("grace", [{"cluster_id": 99, "role": "viewer"}], (404, "cluster_not_found")),
        ("grace", [{"cluster_id": None, "role": "owner"}], (422, "invalid_input")),
        ("../grace", [], (422, "invalid_input")),
    ],
)
def test_a_wrong_user_is_refused(
    client: TestClient, admin: Person, name: str, roles: list[Json], refusal: tuple[int, str]
) -> None:
    body = {"name": name, "roles": roles}
    assert error(client.post("/api/v1/users", json=body, headers=admin.headers)) == refusal
    assert len(client.get("/api/v1/users", headers=admin.headers).json()["items"]) == 1


def test_a_token_that_leaked_becomes_no_session(
    client: TestClient, admin: Person, make_person: Callable[..., Person]
) -> None:
    for user in (admin, make_person("grace", Role.VIEWER)):
        response = client.post(f"/api/v1/users/{user.principal.id}/link", headers=admin.headers)
        assert error(response) == (403, "person_wanted")


def test_a_session_makes_no_link_that_outlives_it(client: TestClient, database: Database) -> None:
    own_id = sign_in(client, database)["id"]
    response = client.post(f"/api/v1/users/{own_id}/link", headers=CSRF)
    assert error(response) == (409, "own_account")
    assert (response.json()["error"]["field"], response.json()["error"]["value"]) == ("user_id", own_id)


@pytest.mark.parametrize(
    ("expires_at", "code"),
    [
        (NOW.isoformat(), "expiry_passed"),
        ("0001-01-01T00:00:00+01:00", "invalid_input"),
        ("9999-12-31T23:59:59-01:00", "invalid_input"),
    ],
    ids=["has passed", "before the calendar", "after the calendar"],
)
def test_a_token_that_could_open_nothing_is_not_made(
    client: TestClient, database: Database, expires_at: str, code: str
) -> None:
    sign_in(client, database)
    body = {"name": "ci", "scopes": ["read"], "expires_at": expires_at}
    response = client.post("/api/v1/tokens", json=body, headers=CSRF)
    assert error(response) == (422, code)
    assert response.json()["error"]["field"] == "expires_at"
    assert response.json()["error"]["remedy"]


def test_administrators_do_not_lock_themselves_out(client: TestClient, admin: Person) -> None:
    url = f"/api/v1/users/{admin.principal.id}"
    response = client.put(url, json={"roles": [], "disabled": True}, headers=admin.headers)
    assert error(response) == (409, "own_account")


def test_the_audit_names_the_user_of_each_change(
    client: TestClient, admin: Person, make_person: Callable[..., Person]
) -> None:
    made = client.post("/api/v1/clusters", json={"name": "c1"}, headers=admin.headers).json()
    client.patch(f"/api/v1/clusters/{made['id']}", json={"description": "rack 4"}, headers=admin.headers)
    client.post("/api/v1/users", json={"name": "grace", "roles": []}, headers=admin.headers)
    entries = client.get("/api/v1/audit", headers=admin.headers).json()["items"]
    assert [entry["action"] for entry in entries] == ["user_created", "cluster_changed", "cluster_created"]
    changed = entries[1]
    assert changed["principal_name"] == "ada (token test)"
    assert (changed["before"], changed["after"]) == ({"description": ""}, {"description": "rack 4"})
    assert changed["address"]

    here = make_person("hopper", Role.ADMIN, made["id"])
    for query in ("", f"?cluster_id={made['id']}"):
        seen = client.get(f"/api/v1/audit{query}", headers=here.headers).json()["items"]
        assert [entry["action"] for entry in seen] == ["cluster_changed", "cluster_created"]
    assert client.get(f"/api/v1/audit?cluster_id={made['id'] + 1}", headers=here.headers).status_code == 404
