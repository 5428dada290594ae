"""A stolen read-only token cannot save views, which would stay and fill the audit log."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from factories.people import Person
from fastapi.testclient import TestClient
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.kit.db import Database

VIEWS: Final = "/api/v1/explorer/views"
VIEW: Final = {"name": "mine", "query": "text=x"}


@pytest.mark.parametrize(
    ("method", "path", "body"), [("POST", "", VIEW), ("PUT", "/{id}", VIEW), ("DELETE", "/{id}", None)]
)
def test_a_token_that_reads_changes_no_view(
    method: str,
    path: str,
    body: dict[str, Any] | None,
    client: TestClient,
    database: Database,
    make_person: Callable[..., Person],
) -> None:
    grace = make_person("grace", Role.OPERATOR)
    made = client.post(VIEWS, json={**VIEW, "name": "first"}, headers=grace.headers).json()

    def scoped(scope: str) -> None:
        with database.transaction() as session:
            session.execute(text("UPDATE api_token SET scopes = ARRAY[:scope]"), {"scope": scope})

    scoped("read")
    where = VIEWS + path.format(id=made["id"])
    answer = client.request(method, where, json=body, headers=grace.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "reading_token")
    assert client.get(VIEWS, headers=grace.headers).json()["items"] == [made]
    with database.transaction() as session:
        kept = text("SELECT count(*) FROM audit_entry WHERE action LIKE 'view_%'")
        assert session.scalar(kept) == 1
    scoped("operate")
    assert client.request(method, where, json=body, headers=grace.headers).status_code < 300
