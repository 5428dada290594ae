"""Sign-in at a real OpenID provider, and its invalid, forged and late answers."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from factories.clock import MovedClock
from factories.clusters import make_cluster
from factories.people import Person
from fastapi import FastAPI
from fastapi.testclient import TestClient
from httpx2 import Response
from openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider, abort, consent, running_provider
from sqlalchemy import select

from iotide_server.accounts.models import AuditEntry, Role, User, UserSession
from iotide_server.accounts.oidc.provider import Provider
from iotide_server.accounts.oidc.terms import NamedRole, OidcTerms
from iotide_server.accounts.sessions.throttle import MOST_OF_NETWORK
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import Database, Json

PUBLIC_URL = "http://127.0.0.1:8470"
START = "/api/v1/session/provider"
CSRF = {"X-Iotide-Csrf": "1"}
ACCOUNTS: dict[str, dict[str, Any]] = {
    "u-17": {"preferred_username": "grace", "groups": ["storage"]},
    "u-18": {"preferred_username": "grace", "groups": ["hpc", "unknown"]},
    "u-19": {"preferred_username": "eve", "groups": ["guests"]},
}
ROLES = {
    "storage": [NamedRole(Role.ADMIN, None)],
    "hpc": [NamedRole(Role.OPERATOR, "c1"), NamedRole(Role.VIEWER, "gone")],
}


@pytest.fixture(scope="module")
def panva() -> Iterator[OpenIdProvider]:
    with running_provider(PUBLIC_URL, ACCOUNTS) as provider:
        yield provider


def terms(issuer: str, **changes: Any) -> OidcTerms:  # noqa: ANN401 - as the fields are
    given: dict[str, Any] = {
        "issuer": issuer,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "name": "Campus",
        "scopes": "openid profile groups",
        "roles_claim": "groups",
        "roles": ROLES,
        "admits_without_role": False,
    }
    return OidcTerms(**given | changes)


@pytest.fixture
def use(shared_app: FastAPI, client: TestClient) -> Iterator[Callable[[OidcTerms], TestClient]]:
    """Configure the API to sign people in on these terms, by the real clock, which the provider uses too."""
    client.follow_redirects = False
    shared_app.state.clock = system_clock

    def set_up(wanted: OidcTerms) -> TestClient:
        shared_app.state.provider = Provider(wanted, f"{PUBLIC_URL}{START}/callback")
        return client

    yield set_up
    shared_app.state.provider = None


def go(client: TestClient, landing: str = "/") -> str:
    response = client.get(START, params={"next": landing})
    assert response.status_code == 303, response.text
    return response.headers["location"]


def back(client: TestClient, callback: str) -> Response:
    return client.get(callback.removeprefix(PUBLIC_URL))


def sign_in(client: TestClient, account: str, landing: str = "/") -> Response:
    return back(client, consent(go(client, landing), account, until=PUBLIC_URL))


def reason(response: Response) -> str:
    parts = urlsplit(response.headers["location"])
    assert (response.status_code, parts.path) == (303, "/login")
    return parse_qs(parts.query)["error"][0]


def test_the_whole_way_there_and_back_gives_a_session_with_the_roles_of_the_groups(
    use: Callable[[OidcTerms], TestClient], panva: OpenIdProvider, database: Database
) -> None:
    client = use(terms(panva.issuer))
    assert client.get("/api/v1/session/ways").json() == {"provider_name": "Campus", "is_open_for_reading": False}
    asked = parse_qs(urlsplit(go(client)).query)
    assert (asked["response_type"], asked["code_challenge_method"]) == (["code"], ["S256"])
    assert asked["state"] != asked["nonce"]
    response = sign_in(client, "u-17", "/runs?state=failed")
    assert (response.status_code, response.headers["location"]) == (303, "/runs?state=failed")
    principal = client.get("/api/v1/session").json()["principal"]
    assert (principal["name"], principal["roles"]) == ("grace", [{"cluster_id": None, "role": "admin"}])
    user = next(item for item in client.get("/api/v1/users").json()["items"] if item["id"] == principal["id"])
    assert (user["roles"], user["provider_roles"], user["issuer"]) == ([], principal["roles"], panva.issuer)
    left = client.delete("/api/v1/session", headers=CSRF).json()["provider_url"]
    assert left.startswith(f"{panva.issuer}/session/end?client_id=iotide&post_logout_redirect_uri=")
    assert client.get("/api/v1/session").status_code == 401
    with database.transaction() as session:
        actions = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert actions == ["user_created", "roles_renewed", "signed_in", "signed_out"]


def test_a_person_is_identified_by_subject_and_never_by_name(
    use: Callable[[OidcTerms], TestClient],
    panva: OpenIdProvider,
    database: Database,
    make_person: Callable[..., Person],
) -> None:
    client = use(terms(panva.issuer))
    local = make_person("grace", Role.VIEWER)
    with database.transaction() as session:
        cluster_id = make_cluster(session, "c1").id
    names = []
    for account in ("u-17", "u-18", "u-17"):
        sign_in(client, account)
        names.append(client.get("/api/v1/session").json()["principal"])
    assert [principal["name"] for principal in names] == ["grace-2", "grace-3", "grace-2"]
    assert names[1]["roles"] == [{"cluster_id": cluster_id, "role": "operator"}], "a removed cluster gives no role"
    assert local.principal.id not in {principal["id"] for principal in names}
    with database.transaction() as session:
        assert session.get_one(User, local.principal.id).issuer is None


def test_roles_are_renewed_at_each_sign_in_and_an_administrator_s_stay(
    use: Callable[[OidcTerms], TestClient], panva: OpenIdProvider, admin: Person
) -> None:
    client = use(terms(panva.issuer))
    sign_in(client, "u-17")
    user_id = client.get("/api/v1/session").json()["principal"]["id"]
    client = use(terms(panva.issuer, roles={"storage": [NamedRole(Role.VIEWER, None)]}))
    sign_in(client, "u-17")
    assert client.get("/api/v1/session").json()["principal"]["roles"] == [{"cluster_id": None, "role": "viewer"}]
    body = {"roles": [{"cluster_id": None, "role": "operator"}], "disabled": False}
    client.put(f"/api/v1/users/{user_id}", json=body, headers=admin.headers)
    client = use(terms(panva.issuer, roles={}))
    assert sign_in(client, "u-17").headers["location"] == "/"
    assert client.get("/api/v1/session").json()["principal"]["roles"] == body["roles"]


def test_groups_without_a_role_give_neither_account_nor_session_unless_configured(
    use: Callable[[OidcTerms], TestClient], panva: OpenIdProvider, database: Database
) -> None:
    client = use(terms(panva.issuer))
    assert reason(sign_in(client, "u-19")) == "no_role"
    with database.transaction() as session:
        assert session.scalars(select(User)).all() == []
    client = use(terms(panva.issuer, admits_without_role=True))
    sign_in(client, "u-19")
    assert client.get("/api/v1/session").json()["principal"] | {"id": 0} == {
        "kind": "user", "id": 0, "name": "eve", "roles": [],
    }  # fmt: skip


def test_losing_the_last_role_ends_sessions_and_disabled_users_get_none(
    use: Callable[[OidcTerms], TestClient], panva: OpenIdProvider, database: Database
) -> None:
    sign_in(use(terms(panva.issuer)), "u-17")
    assert reason(sign_in(use(terms(panva.issuer, roles={})), "u-17")) == "no_role"
    with database.transaction() as session:
        assert session.scalars(select(UserSession)).all() == []
        session.scalars(select(User)).one().disabled_at = system_clock()
    assert reason(sign_in(use(terms(panva.issuer)), "u-17")) == "account_disabled"
    with database.transaction() as session:
        refusals = select(AuditEntry.after).where(AuditEntry.action == "sign_in_refused").order_by(AuditEntry.id)
        assert [after and after["why"] for after in session.scalars(refusals)] == ["no_role", "account_disabled"]


def test_an_answer_is_taken_once_by_the_browser_that_asked_and_in_time(
    use: Callable[[OidcTerms], TestClient], panva: OpenIdProvider, shared_app: FastAPI
) -> None:
    client = use(terms(panva.issuer))
    callback = consent(go(client), "u-17", until=PUBLIC_URL)
    own = client.cookies["iotide_sign_in"]
    client.cookies.clear()
    assert reason(back(client, callback)) == "sign_in_stale", "another browser"
    go(client)
    assert reason(back(client, callback)) == "sign_in_stale", "another sign-in of the same browser"
    client.cookies.set("iotide_sign_in", own, domain="testserver.local", path="/")
    late = MovedClock()
    late.now = system_clock()
    late.move(600)
    shared_app.state.clock = late
    assert reason(back(client, callback)) == "sign_in_stale", "ten minutes later"
    shared_app.state.clock = system_clock
    client.cookies.set("iotide_sign_in", own, domain="testserver.local", path="/")
    assert back(client, callback).headers["location"] == "/"
    assert "iotide_sign_in" not in client.cookies
    assert reason(back(client, callback)) == "sign_in_stale", "the cookie is used up"
    client.cookies.set("iotide_sign_in", own, domain="testserver.local", path="/")
    assert reason(back(client, callback)) == "provider_refused", "the code is used up at the provider"


def test_a_refusal_of_the_provider_differs_from_an_invalid_code(
    use: Callable[[OidcTerms], TestClient], panva: OpenIdProvider
) -> None:
    client = use(terms(panva.issuer))
    refused = back(client, abort(go(client, "/alerts"), until=PUBLIC_URL))
    assert reason(refused) == "provider_refused"
    assert parse_qs(urlsplit(refused.headers["location"]).query)["next"] == ["/alerts"]
    state = parse_qs(urlsplit(go(client)).query)["state"][0]
    assert reason(back(client, f"{START}/callback?state={state}&code=invented")) == "provider_refused"


def test_codes_are_not_tried_without_end(use: Callable[[OidcTerms], TestClient], panva: OpenIdProvider) -> None:
    client = use(terms(panva.issuer))
    reasons = []
    for _ in range(MOST_OF_NETWORK + 1):
        state = parse_qs(urlsplit(go(client)).query)["state"][0]
        reasons.append(reason(back(client, f"{START}/callback?state={state}&code=invented")))
    assert reasons == ["provider_refused"] * MOST_OF_NETWORK + ["too_many_attempts"]


@pytest.mark.parametrize("issuer", ["http://127.0.0.1:1", "{issuer}/other"])
def test_an_unreachable_or_wrong_provider_is_reported_on_the_login_page(
    use: Callable[[OidcTerms], TestClient], panva: OpenIdProvider, issuer: str
) -> None:
    client = use(terms(issuer.format(issuer=panva.issuer)))
    assert reason(client.get(START)) == "provider_away"


@pytest.mark.parametrize("landing", ["https://evil.example", "//evil.example", "/\\evil.example", "/a\\b", "runs"])
def test_browsers_are_not_redirected_to_another_site(
    use: Callable[[OidcTerms], TestClient], panva: OpenIdProvider, landing: str
) -> None:
    client = use(terms(panva.issuer))
    go(client, landing)
    assert client.cookies["iotide_sign_in"].rpartition(".")[2] == "Lw", "the path /"


def test_the_provider_s_people_set_no_password_here(
    use: Callable[[OidcTerms], TestClient], panva: OpenIdProvider
) -> None:
    client = use(terms(panva.issuer))
    sign_in(client, "u-17")
    body: Json = {"old_password": None, "new_password": "correct horse battery"}
    refused = client.put("/api/v1/session/password", json=body, headers=CSRF)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "password_elsewhere")


def test_without_a_provider_there_is_no_such_sign_in(client: TestClient) -> None:
    assert client.get(START).json()["error"]["code"] == "no_provider"
    assert client.get("/api/v1/session/ways").json()["provider_name"] is None
