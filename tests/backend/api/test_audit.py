"""Search, pages and export of the audit log."""

import csv
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from factories.announced import NOW
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.accounts.audit import reading as audit_reading
from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import AuditEntry, Role, User
from iotide_server.accounts.roles.principal import ANONYMOUS
from iotide_server.accounts.sessions import service as sessions
from iotide_server.kit.db import Database

URL = "/api/v1/audit"
Ids = Callable[..., list[int]]


def entry(number: int, **fields: Any) -> AuditEntry:  # noqa: ANN401 - any field
    return AuditEntry(
        **{
            "at": NOW + timedelta(days=number),
            "principal_kind": "user",
            "principal_id": 1,
            "principal_name": "ada",
            "address": "10.0.0.7",
            "action": "target_changed",
            "subject_kind": "target",
            "subject_id": 3,
            "cluster_id": None,
            "before": None,
            "after": None,
            **fields,
        }
    )


@pytest.fixture
def ids(client: TestClient, admin: Person, database: Database) -> Ids:
    """Return the entries found by a search, as numbers counted from 1."""
    with database.transaction() as session:
        written = [
            entry(1, before={"path": "/scratch/Bench_old"}, after={"path": "/mnt/nfs0"}),
            entry(2, principal_name="ada (token nightly)", principal_kind="token", address="10.0.0.70"),
            entry(3, principal_name="adam", action="node_changed", subject_kind="node"),
            entry(4, principal_name="ada (schedule weekly)", subject_id=30, address=None, after={"note": "a\nbig one"}),
        ]
        session.add_all(written)
        session.flush()
        first = written[0].id

    def ids(**params: str | int) -> list[int]:
        answer = client.get(URL, params=params, headers=admin.headers)
        assert answer.status_code == 200, answer.text
        return [one["id"] - first + 1 for one in answer.json()["items"]]

    return ids


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({}, [4, 3, 2, 1]),
        ({"actor": "ada"}, [4, 2, 1]),
        ({"actor": "adam"}, [3]),
        ({"actor": "%"}, []),
        ({"action": "node_changed"}, [3]),
        ({"subject_kind": "target", "subject_id": 3}, [2, 1]),
        ({"address": "10.0.0.7"}, [3, 1]),
        ({"from": (NOW + timedelta(days=2)).isoformat(), "to": (NOW + timedelta(days=3)).isoformat()}, [3, 2]),
        ({"text": "scratch"}, [1]),
        ({"text": "BENCH old"}, [1]),
        ({"text": "/mnt/nfs0"}, [1]),
        ({"text": "nfs"}, [1]),
        ({"text": "target nightly"}, [2]),
        ({"text": "big"}, [4]),
        ({"text": "scratch nightly"}, []),
        ({"text": "' | ! & :* \\"}, None),
        ({"cluster_id": 99}, []),
    ],
)
def test_each_filter_finds_what_it_names(
    ids: Ids, client: TestClient, admin: Person, params: dict[str, str | int], found: list[int] | None
) -> None:
    if found is None:
        refused = client.get(URL, params=params, headers=admin.headers)
        assert (refused.status_code, refused.json()["error"]["field"]) == (422, "text")
    else:
        assert ids(**params) == found


def test_pages_follow_each_other_without_a_gap(ids: Ids, client: TestClient, admin: Person) -> None:
    assert ids(limit=500) == [4, 3, 2, 1]
    seen: list[int] = []
    cursor = None
    while cursor is not None or not seen:
        params = {"limit": 1} | ({"cursor": cursor} if cursor else {})
        page = client.get(URL, params=params, headers=admin.headers).json()
        seen += [one["id"] for one in page["items"]]
        cursor = page["next_cursor"]
    assert len(seen) == 4
    assert sorted(seen, reverse=True) == seen


def test_all_that_matches_is_exported_in_pieces(
    ids: Ids, client: TestClient, admin: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_reading, "_PIECE_ENTRIES", 2)
    assert ids(subject_kind="target") == [4, 2, 1]
    params = {"subject_kind": "target"}
    answer = client.get(f"{URL}/export", params=params, headers=admin.headers)
    assert answer.headers["content-disposition"] == 'attachment; filename="audit.csv"'
    rows = list(csv.DictReader(answer.text.splitlines()))
    assert [row["principal_name"] for row in rows] == ["ada (schedule weekly)", "ada (token nightly)", "ada"]
    assert json.loads(rows[2]["after"]) == {"path": "/mnt/nfs0"}
    answer = client.get(f"{URL}/export", params={**params, "format": "jsonl"}, headers=admin.headers)
    assert answer.headers["content-type"].startswith("application/jsonl")
    listed = client.get(URL, params=params, headers=admin.headers).json()["items"]
    assert [json.loads(line) for line in answer.text.splitlines()] == listed


def test_an_impossible_filter_is_refused_before_the_file_begins(client: TestClient, admin: Person) -> None:
    for field in ("actor", "text"):
        refused = client.get(f"{URL}/export", params={field: "a\0b"}, headers=admin.headers)
        assert (refused.status_code, refused.json()["error"]["field"]) == (422, field)


def test_an_admin_of_a_cluster_exports_only_its_changes(
    client: TestClient, admin: Person, make_person: Callable[..., Person]
) -> None:
    clusters = "/api/v1/clusters"
    made = [
        client.post(clusters, json={"name": name}, headers=admin.headers).json()["id"] for name in ("here", "there")
    ]
    hopper = make_person("hopper", Role.ADMIN, made[0])
    text = client.get(f"{URL}/export?format=jsonl", headers=hopper.headers).text
    assert [json.loads(line)["subject_id"] for line in text.splitlines()] == [made[0]]
    refused = client.get(f"{URL}/export?cluster_id={made[1]}", headers=hopper.headers)
    assert refused.status_code == 404
    viewer = make_person("grace", Role.VIEWER)
    assert client.get(f"{URL}/export", headers=viewer.headers).status_code == 403


def test_an_entry_about_a_person_has_the_name_that_they_had_then(
    client: TestClient, admin: Person, make_person: Callable[..., Person], database: Database
) -> None:
    grace = make_person("grace", Role.VIEWER)
    with database.transaction() as session:
        principal = sessions.console_principal(session, NOW)
        ended = Action("sessions_ended", "user", grace.principal.id or 0, None, after={"count": 2})
        audit.record(session, principal, ended)
        reset = Action("password_reset", "user", grace.principal.id or 0, None, {"had": True}, {"had": False})
        audit.record(session, principal, reset)
        audit.record_refusal(session, ANONYMOUS, grace.principal.id, {"by": "provider", "why": "no_role"})
        audit.record_refusal(session, ANONYMOUS, None, {"by": "password", "name": None})
        session.get_one(User, grace.principal.id).name = "grace-hopper"
    found = client.get(URL, params={"subject_kind": "user"}, headers=admin.headers).json()["items"]
    recorded = {
        one["action"]: (one["before"], one["after"]) for one in found if one["subject_id"] == grace.principal.id
    }
    assert recorded["sessions_ended"] == (None, {"name": "grace", "count": 2})
    assert recorded["sign_in_refused"] == (None, {"name": "grace", "by": "provider", "why": "no_role"})
    assert recorded["password_reset"] == ({"name": "grace", "had": True}, {"name": "grace", "had": False})
    by_name = client.get(URL, params={"text": "grace", "action": "sessions_ended"}, headers=admin.headers).json()
    assert len(by_name["items"]) == 1, "it is found by the name"


def test_a_change_of_more_text_than_can_be_indexed_is_kept_whole(database: Database) -> None:
    novel = {"text": " ".join(f"word{number}" for number in range(200_000))}
    with database.transaction() as session:
        session.add(entry(1, after=novel))
    with database.transaction() as session:
        (kept,) = session.query(AuditEntry)
        assert kept.after == novel
