"""Answers of every route to every caller, about objects of one cluster; docs/access.md has the table."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from access.callers import CALLERS
from access.requests import REQUESTS
from access.site import AccessSite
from access.table import Asking, document, missing, summary
from factories.routes import DeclaredRoute, declared_routes
from fastapi import FastAPI

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.accounts.roles.rules import HasRole, Public
from iotide_server.main import API

TABLE = Path(__file__).parents[3] / "docs/access.md"
PUBLIC = {
    f"GET {API}/alive",
    f"GET {API}/health",
    f"GET {API}/session/ways",
    f"GET {API}/session/provider",
    f"GET {API}/session/provider/callback",
    f"GET {API}/ready",
    f"POST {API}/session",
    f"POST {API}/session/link",
    f"POST {API}/agent/enroll",
    "GET /agent/{name}",
}


@pytest.fixture
def routes(shared_app: FastAPI) -> list[DeclaredRoute]:
    return declared_routes(shared_app)


def test_every_route_declares_one_rule(routes: list[DeclaredRoute]) -> None:
    assert [str(route) for route in routes if len(route.rules) != 1] == []
    assert len(routes) > 50, "the routes were found"


def test_public_routes_are_public_on_purpose(routes: list[DeclaredRoute]) -> None:
    assert {str(route) for route in routes if isinstance(route.rules[0], Public)} == PUBLIC


def test_every_route_answers_every_caller_by_its_rule(
    routes: list[DeclaredRoute], asking: Asking, record_property: Callable[[str, object], None]
) -> None:
    checks = asking.checks(routes)
    record_property("printed", summary(routes, checks))
    assert [str(check) for check in checks if check.expected != check.observed] == []
    assert missing(routes) == []


def test_the_table_in_the_documentation_is_fresh(routes: list[DeclaredRoute]) -> None:
    assert TABLE.read_text() == document(routes), "run ./dev generate"


@pytest.fixture
def named(routes: list[DeclaredRoute]) -> Callable[[str], DeclaredRoute]:
    return lambda name: next(route for route in routes if str(route) == name)


def test_a_weaker_rule_is_found(
    shared_app: FastAPI, asking: Asking, named: Callable[[str], DeclaredRoute], monkeypatch: pytest.MonkeyPatch
) -> None:
    overrides: dict[Any, Any] = shared_app.dependency_overrides
    monkeypatch.setitem(overrides, HasRole(Role.ADMIN), HasRole(Role.VIEWER))
    checks = asking.checks([named(f"GET {API}/audit")])
    found = {check.caller.name for check in checks if check.expected != check.observed}
    assert {"viewer", "operator", "other operator"} <= found


def test_a_service_without_a_check_of_the_cluster_is_found(
    asking: Asking, named: Callable[[str], DeclaredRoute], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Principal, "may", lambda self, role, _: self.may_somewhere(role))
    checks = asking.checks([named(f"GET {API}/clusters/{{cluster_id}}"), named(f"GET {API}/nodes")])
    found = {
        (check.route.path.removeprefix(API), check.caller.name) for check in checks if check.expected != check.observed
    }
    assert ("/clusters/{cluster_id}", "other operator") in found
    assert ("/nodes", "other admin") in found, "a list that shows others' nodes"


def test_a_route_that_the_table_leaves_out_is_found(
    routes: list[DeclaredRoute], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(REQUESTS, f"GET {API}/nodes")
    assert missing(routes) == [f"GET {API}/nodes"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer iot_invented"},
        {"Authorization": "Bearer ion_invented"},
        {"Authorization": "Basic YWRhOmFkYQ=="},
        {"Cookie": "iotide_session=invented"},
    ],
    ids=["API token", "node token", "basic", "cookie"],
)
def test_no_invented_proof_opens_anything(routes: list[DeclaredRoute], asking: Asking, headers: dict[str, str]) -> None:
    guarded = [route for route in routes if not isinstance(route.rules[0], Public)]
    anonymous = replace(asking, headers=dict.fromkeys(asking.headers, headers))
    answers = {check.observed for check in anonymous.checks(guarded, CALLERS[:1])}
    assert answers <= {"401", "403"}


def test_a_token_of_invalid_bytes_is_unknown(site: AccessSite) -> None:
    answer = site.client.get(f"{API}/nodes", headers={b"Authorization": b"Bearer \xff\x00"})
    assert answer.status_code == 401


def test_the_callers_of_the_table_have_distinct_names() -> None:
    assert len({caller.name for caller in CALLERS}) == len(CALLERS)
