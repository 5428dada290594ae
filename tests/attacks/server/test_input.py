"""Malicious input: bombs, injected text, forged cursors and keys, unknown fields."""

import asyncio
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from access.site import AccessSite
from access.table import Answer, asked
from fastapi import FastAPI

from iotide_server.main import API, openapi_document

SQL: Final = (
    "' OR '1'='1",
    "1; DROP TABLE node; --",
    "1) UNION SELECT secret_sha256 FROM api_token --",
    "id DESC, (SELECT pg_sleep(9))",
    "%' ESCAPE '\\",
)
PLAN: Final = {
    "name": "alpha-plan",
    "cluster": "alpha",
    "nodes": ["alpha-n1"],
    "targets": ["alpha-scratch"],
    "workloads": [{"workload": "dd", "options": {"file_size_bytes": "1 GiB"}}],
}
CLUSTERS: Final = f"{API}/clusters"
ABSENT: Final = 987_654
DOCUMENT: Final = openapi_document()


@pytest.fixture
def admin(site: AccessSite) -> dict[str, str]:
    return dict(site.headers["admin of all"])


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def query_parameters() -> list[tuple[str, dict[str, Any]]]:
    return [
        (path, parameter)
        for method, path, operation in operations()
        for parameter in operation.get("parameters", ())
        if method == "GET" and parameter["in"] == "query" and not path.endswith("/events")
    ]


def test_no_query_parameter_takes_sql(shared_app: FastAPI, site: AccessSite) -> None:
    headers = site.headers["admin of all"]

    async def probe() -> list[tuple[str, str, Answer]]:
        found = []
        for path, parameter in query_parameters():
            url = path.format(**{**site.ids, "token_id": 1})
            for text in SQL:
                sent = "".join(f"%{byte:02x}" for byte in text.encode())
                found.append((path, text, await asked(shared_app, "GET", url, f"{parameter['name']}={sent}", headers)))
        return found

    answers = asyncio.run(probe())
    assert len(answers) > 300, "the parameters were found"
    faults = [(path, text, answer.status) for path, text, answer in answers if answer.status >= 500]
    assert faults == []
    assert site.client.get(f"{API}/nodes", headers=dict(headers)).json()["items"], "nothing was dropped"


@pytest.mark.parametrize(
    "cursor", ["x", "LTE", "MA", "OTIyMzM3MjAzNjg1NDc3NTgwOA", "MSBPUiAx", "77-9", "MSw", "A" * 64]
)
def test_no_list_takes_a_forged_cursor(shared_app: FastAPI, site: AccessSite, cursor: str) -> None:
    lists = [path for path, parameter in query_parameters() if parameter["name"] == "cursor"]
    assert len(lists) > 15

    async def probe() -> dict[str, int]:
        headers = site.headers["admin of all"]
        answers = {
            path: await asked(shared_app, "GET", path.format(**site.ids), f"cursor={cursor}&metric=write_rate", headers)
            for path in lists
        }
        return {path: answer.status for path, answer in answers.items()}

    assert set(asyncio.run(probe()).values()) == {422}


def test_no_body_accepts_an_unknown_field() -> None:
    bodies = {
        content["schema"]["$ref"].rpartition("/")[2]
        for _, path, operation in operations()
        if "/agent/" not in path
        for content in operation.get("requestBody", {}).get("content", {}).values()
        if "$ref" in content["schema"]
    }
    assert len(bodies) > 20
    schemas = DOCUMENT["components"]["schemas"]
    assert {name for name in bodies if schemas[name].get("additionalProperties") is not False} <= {"RunReading"}


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 500_000,
        b'{"name":' * 200_000,
        b'{"name":' + b"9" * 1_000_000 + b"}",
        b'{"name":1e999999999}',
        b'{"name":"c1","description":' + b'"' + b"\\u0000" * 1000 + b'"}',
        b"{" + b",".join(b'"k%d":0' % number for number in range(20_000)) + b"}",
    ],
    ids=["deep lists", "deep objects", "long number", "large number", "NUL", "many keys"],
)
def test_a_json_bomb_is_refused_and_named(site: AccessSite, admin: dict[str, str], content: bytes) -> None:
    headers = admin | {"Content-Type": "application/json"}
    response = site.client.post(CLUSTERS, content=content, headers=headers)
    assert response.status_code == 422
    assert len(response.content) < 2000, "it is not sent back"


def test_of_two_equal_keys_one_counts_everywhere(site: AccessSite, admin: dict[str, str]) -> None:
    headers = admin | {"Content-Type": "application/json"}
    made = site.client.post(CLUSTERS, content=b'{"name": "first", "name": "second"}', headers=headers)
    assert (made.status_code, made.json()["name"]) == (201, "second")
    names = [entry["after"]["name"] for entry in site.client.get(f"{API}/audit?limit=1", headers=admin).json()["items"]]
    assert names == ["second"], "what is written down is what was done"


def test_a_compressed_body_is_not_unpacked(site: AccessSite, admin: dict[str, str]) -> None:
    headers = admin | {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    bomb = gzip.compress(b'{"name": "' + b"x" * 10_000_000 + b'"}', 1)
    response = site.client.post(CLUSTERS, content=bomb, headers=headers)
    assert response.status_code in {415, 422}


def test_raw_output_that_is_a_bomb_is_kept_as_bytes_and_only_downloaded(site: AccessSite) -> None:
    bomb = gzip.compress(b"\0" * 10_000_000)
    sha256 = hashlib.sha256(bomb).hexdigest()
    node = dict(site.headers["the order's node"]) | {"X-Iotide-Fence": str(site.ids["fence"])}
    url = f"{API}/agent/orders/{site.ids['order_id']}/artefacts/page.html"
    assert site.client.put(url, params={"sha256": sha256}, content=bomb, headers=node).status_code == 204
    admin = dict(site.headers["admin of all"])
    [kept] = [
        artefact
        for run in site.client.get(
            f"{API}/runs", params={"campaign_id": site.ids["campaign_id"]}, headers=admin
        ).json()["items"]
        for artefact in site.client.get(f"{API}/runs/{run['id']}/artefacts", headers=admin).json()["items"]
    ]
    answer = site.client.get(f"{API}/artefacts/{kept['id']}", headers=admin)
    assert answer.content == bomb
    assert answer.headers["content-disposition"] == 'attachment; filename="page.html"'
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("name", ["a%0d%0aSet-Cookie:x=1", 'a"; filename=b.exe', "..%2f..%2fetc", ".htaccess", "a%00b"])
def test_no_name_of_raw_output_injects_a_header_or_leads_anywhere(site: AccessSite, name: str) -> None:
    node = dict(site.headers["the order's node"]) | {"X-Iotide-Fence": str(site.ids["fence"])}
    url = f"{API}/agent/orders/{site.ids['order_id']}/artefacts/{name}"
    answer = site.client.put(url, params={"sha256": "0" * 64}, content=b"", headers=node)
    assert answer.status_code in {404, 405, 422}


def test_no_host_header_gets_into_a_link(site: AccessSite) -> None:
    headers = dict(site.headers["admin of all"]) | {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    link = site.client.post(f"{API}/users/{site.ids['user_id']}/link", headers=headers)
    token = site.client.post(f"{CLUSTERS}/{site.ids['cluster_id']}/join-tokens", json={}, headers=headers)
    assert (link.status_code, token.status_code) == (201, 201)
    assert "evil" not in link.text + token.text + str(link.headers) + str(token.headers)


@pytest.mark.parametrize("key", [b"", b" ", b"x" * 10_000, b"\0", b"' OR 1=1 --", "é".encode(), b"\xff"])
def test_an_odd_idempotency_key_is_refused_or_one_like_any_other(site: AccessSite, key: bytes) -> None:
    sent = {name.encode(): value.encode() for name, value in site.headers["admin of all"].items()}
    answer = site.client.post(f"{API}/campaigns", json=PLAN, headers=sent | {b"Idempotency-Key": key})
    assert answer.status_code in {201, 422}


def test_an_idempotency_key_is_each_person_s_own(site: AccessSite) -> None:
    made = [
        site.client.post(f"{API}/campaigns", json=PLAN, headers={**site.headers[who], "Idempotency-Key": "the-same"})
        for who in ("operator", "admin", "operator")
    ]
    first, of_another, again = [answer.json()["id"] for answer in made]
    assert first == again != of_another


@pytest.mark.parametrize("value", [b"-1", b"1e3", b"' OR 1=1", b"\xff", b"9" * 20, b"\xd9\xa1"])
def test_an_invalid_last_event_id_resets_the_stream(
    shared_app: FastAPI, site: AccessSite, value: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A stream reads outside its own transaction, and so on another connection.
    monkeypatch.setattr(shared_app.state, "database", site.database)
    headers = {name.encode(): text.encode() for name, text in site.headers["viewer"].items()}
    answer = site.client.get(f"{API}/events", headers=headers | {b"Last-Event-ID": value})
    assert answer.status_code == 200
    assert "event: reset" in answer.text


def test_hidden_and_missing_objects_get_the_same_answer(shared_app: FastAPI, site: AccessSite) -> None:
    """Applies to every route that shows one object, so that a caller cannot count objects of other clusters."""
    ids = {name: value for name, value in site.ids.items() if name.endswith("_id")} | {"name": "x"}
    shown = [
        path
        for method, path, _ in operations()
        if method == "GET" and path.count("{") == 1 and "/readings/" not in path
    ]
    assert len(shown) > 30

    async def probe() -> list[tuple[str, object, object]]:
        headers = site.headers["other operator"]
        found: list[tuple[str, object, object]] = []
        for path in shown:
            name = path.partition("{")[2].partition("}")[0]
            hidden = await asked(shared_app, "GET", path.format(**ids), "metric=write_rate", headers)
            absent = await asked(shared_app, "GET", path.format(**{name: ABSENT}), "metric=write_rate", headers)
            found.append((path, _said(hidden, ids[name]), _said(absent, ABSENT)))
        return found

    assert [row for row in asyncio.run(probe()) if row[1] != row[2]] == []


def _said(answer: Answer, number: object) -> tuple[int, str]:
    """Return the status, and the error without its ids."""
    return answer.status, re.sub(rf"\b{number}\b", "ID", json.dumps(_error(json.loads(answer.text))))


def _error(answer: dict[str, dict[str, object]]) -> dict[str, object]:
    """Return the error without the number that each request has."""
    return {name: value for name, value in answer["error"].items() if name != "request_id"}


def test_callers_without_permission_to_change_users_learn_no_names(site: AccessSite) -> None:
    taken, free = (
        site.client.post(f"{API}/users", json={"name": name, "roles": []}, headers=site.headers["admin"]).json()
        for name in ("ada", "nobody-yet")
    )
    assert _error(taken) == _error(free)
    wrong = [site.client.post(f"{API}/session", json={"name": name, "password": "x"}) for name in ("ada", "nobody-yet")]
    assert _error(wrong[0].json()) == _error(wrong[1].json())
