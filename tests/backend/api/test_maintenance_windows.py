from collections.abc import Callable

import pytest
from factories.clock import MovedClock
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.accounts.models import Role

DAY = {"starts_at": "2026-12-01T08:00:00+01:00", "ends_at": "2026-12-01T18:00:00+01:00", "reason": "new firmware"}


@pytest.fixture
def url(client: TestClient, admin: Person) -> str:
    made = client.post("/api/v1/clusters", json={"name": "blade"}, headers=admin.headers).json()
    return f"/api/v1/clusters/{made['id']}/blackouts"


def test_a_maintenance_day_is_listed_until_it_is_over_or_removed(
    client: TestClient, admin: Person, url: str, clock: MovedClock
) -> None:
    made = [client.post(url, json=DAY, headers=admin.headers).json() for _ in range(2)]
    assert (made[0]["starts_at"], made[0]["ends_at"]) == ("2026-12-01T07:00:00Z", "2026-12-01T17:00:00Z")
    assert client.get(url, headers=admin.headers).json()["items"] == made[::-1]
    assert client.delete(f"/api/v1/blackouts/{made[0]['id']}", headers=admin.headers).status_code == 204
    assert client.delete(f"/api/v1/blackouts/{made[0]['id']}", headers=admin.headers).status_code == 404
    assert client.get(url, headers=admin.headers).json()["items"] == made[1:]
    clock.move(11 * 86_400)
    assert client.get(url, headers=admin.headers).json()["items"] == []


@pytest.mark.parametrize(
    ("changes", "status", "code", "field"),
    [
        ({"ends_at": DAY["starts_at"]}, 422, "invalid_input", "ends_at"),
        ({"starts_at": "2026-11-20T08:00:00Z", "ends_at": "2026-11-21T10:00:00Z"}, 409, "blackout_over", "ends_at"),
        ({"starts_at": "2026-12-01T08:00:00"}, 422, "invalid_input", "starts_at"),
        ({"reason": ""}, 422, "invalid_input", "reason"),
    ],
)
def test_an_invalid_maintenance_window_is_rejected_with_its_field(
    client: TestClient, admin: Person, url: str, changes: dict[str, str], status: int, code: str, field: str
) -> None:
    answer = client.post(url, json=DAY | changes, headers=admin.headers)
    assert answer.status_code == status
    assert (answer.json()["error"]["code"], answer.json()["error"]["field"]) == (code, field)


def test_viewers_see_them_and_operators_enter_them(
    client: TestClient, admin: Person, make_person: Callable[..., Person], url: str
) -> None:
    made = client.post(url, json=DAY, headers=admin.headers).json()
    viewer, operator = make_person("vera", Role.VIEWER), make_person("otto", Role.OPERATOR)
    other = client.post("/api/v1/clusters", json={"name": "other"}, headers=admin.headers).json()
    stranger = make_person("sam", Role.OPERATOR, other["id"])
    assert client.get(url, headers=viewer.headers).json()["items"] == [made]
    assert client.post(url, json=DAY, headers=viewer.headers).status_code == 403
    assert client.post(url, json=DAY, headers=stranger.headers).status_code == 404
    assert client.delete(f"/api/v1/blackouts/{made['id']}", headers=stranger.headers).status_code == 404
    assert client.post(url, json=DAY, headers=operator.headers).status_code == 201
    assert client.delete(f"/api/v1/blackouts/{made['id']}", headers=operator.headers).status_code == 204
