"""Rules for every request on any route: one form of error, bounded bodies, headers, no traces."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from backend.fixtures import settings_of
from bring_up import free_port
from factories.announced import NOW
from factories.clock import MovedClock
from factories.people import Person
from fastapi import FastAPI
from fastapi.testclient import TestClient
from httpx2 import Response
from pydantic import SecretStr
from sqlalchemy import text
from starlette.responses import StreamingResponse
from structlog.testing import capture_logs

from iotide_server.kit.bodies import BodyLimit
from iotide_server.kit.db import Database, Json
from iotide_server.kit.errors import NotFoundError
from iotide_server.kit.pulse import want_pulse
from iotide_server.kit.wake import SCHEDULER_LOCK
from iotide_server.main import create_app
from iotide_server.settings import Settings

CLUSTERS = "/api/v1/clusters"


def error(response: Response) -> Json:
    assert response.headers["content-type"] == "application/json"
    body: Json = response.json()
    assert list(body) == ["error"]
    assert set(body["error"]) == {"code", "field", "value", "message", "remedy", "request_id"}
    refusal: Json = body["error"]
    return refusal


def test_a_name_with_a_blank_is_rejected_with_the_allowed_characters(client: TestClient, admin: Person) -> None:
    refusal = error(client.post(CLUSTERS, json={"name": "rack 4"}, headers=admin.headers))
    assert (refusal["field"], refusal["value"]) == ("name", "rack 4")
    assert (
        refusal["remedy"]
        == "use up to 63 letters, digits, dots, dashes and underscores, starting with a letter or digit"
    )


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b"{", None),
        (b"\xff\xfe", None),
        (b"[" * 100_000, None),
        (b"null", None),
        (b"[]", None),
        (b"{}", "name"),
        (b'{"name": null}', "name"),
        (b'{"name": "c1", "colour": "red"}', "colour"),
        (b'{"name": "../c1"}', "name"),
        (b'{"name": "c1\\u0000"}', "name"),
        (b'{"name": "\\ud800"}', "name"),
        (b'{"name": NaN}', "name"),
        (b'{"name": 1' + b"0" * 400 + b"}", "name"),
        (b'{"name": "c1", "description": "rack\\u00004"}', "description"),
        (b'{"name": "c1", "description": "rack\\ud8004"}', "description"),
        (b'{"name": "c1", "description": 1e999}', "description"),
    ],
)
def test_malformed_input_is_422_and_names_the_field(
    client: TestClient, admin: Person, content: bytes, field: str | None
) -> None:
    headers = admin.headers | {"Content-Type": "application/json"}
    response = client.post(CLUSTERS, content=content, headers=headers)
    assert response.status_code == 422
    refusal = error(response)
    assert (refusal["code"], refusal["field"]) == ("invalid_input", field)


@pytest.mark.parametrize("number", ["0", "-1", "9223372036854775808", "1e3", "x", "%00"])
def test_an_id_that_no_row_can_have_is_422(client: TestClient, admin: Person, number: str) -> None:
    response = client.get(f"{CLUSTERS}/{number}", headers=admin.headers)
    assert response.status_code == 422
    assert error(response)["field"] == "cluster_id"


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
def test_another_content_type_is_415(client: TestClient, admin: Person, content_type: str) -> None:
    headers = admin.headers | {"Content-Type": content_type}
    response = client.post(CLUSTERS, content=b'{"name": "c1"}', headers=headers)
    assert response.status_code == 415
    assert error(response)["code"] == "wrong_content_type"


def test_json_in_any_spelling_is_taken(client: TestClient, admin: Person) -> None:
    headers = admin.headers | {"Content-Type": "Application/JSON; charset=utf-8"}
    assert client.post(CLUSTERS, content=b'{"name": "c1"}', headers=headers).status_code == 201


def test_a_body_that_is_too_large_is_413_with_or_without_a_length(client: TestClient, admin: Person) -> None:
    headers = admin.headers | {"Content-Type": "application/json"}
    body = b'{"name": "' + b"x" * BodyLimit().size_bytes + b'"}'

    def in_pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    for content in (body, in_pieces()):
        response = client.post(CLUSTERS, content=content, headers=headers)
        assert response.status_code == 413
        assert (error(response)["code"], error(response)["remedy"]) == ("body_too_large", "send less at once")


@pytest.mark.parametrize(
    ("path", "largest_kib"),
    [
        ("hello", 8192),
        ("beat", 8192),
        ("batch", 8192),
        ("orders/1/finish", 16_384),
        ("orders/1/claim", 64),
        ("rotation", 64),
        ("enroll", 64),
    ],
)
def test_an_agents_body_is_bounded_by_what_its_message_can_need(
    client: TestClient, path: str, largest_kib: int
) -> None:
    for size_bytes, status in ((largest_kib * 1024, {401, 422}), (largest_kib * 1024 + 1, {413})):
        response = client.post(
            f"/api/v1/agent/{path}", content=b" " * size_bytes, headers={"Content-Type": "application/json"}
        )
        assert response.status_code in status


@pytest.mark.parametrize("path", ["clusters/9", "nodes/9", "targets/9", "campaigns/9", "runs/9", "series/9/points"])
def test_an_unknown_path_is_404_with_a_remedy(client: TestClient, admin: Person, path: str) -> None:
    response = client.get(f"/api/v1/{path}", headers=admin.headers)
    assert response.status_code == 404
    refusal = error(response)
    assert refusal["value"] == 9
    assert refusal["remedy"]


def test_an_unknown_route_and_a_wrong_method_have_the_form_too(client: TestClient) -> None:
    for accept in ("*/*", "text/html"):
        unknown = client.get("/api/v1/nonsense", headers={"Accept": accept})
        assert (unknown.status_code, error(unknown)["code"]) == (404, "route_not_found")
    wrong = client.delete("/api/v1/clusters")
    assert (wrong.status_code, error(wrong)["code"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "GET, POST"


def test_a_fault_of_ours_is_logged_and_shows_no_trace(settings: Settings) -> None:
    app = create_app(settings)

    def fail() -> None:
        raise RuntimeError("the secret of the house")

    app.add_api_route("/api/v1/fault", fail)
    with TestClient(app) as client, capture_logs() as logs:
        response = client.get("/api/v1/fault")
    assert response.status_code == 500
    assert error(response)["code"] == "internal_error"
    assert "secret" not in response.text
    assert [(entry["event"], entry["log_level"], entry["path"]) for entry in logs] == [
        ("request_failed", "error", "/api/v1/fault")
    ]


def test_a_refusal_during_an_answer_cuts_it_and_is_no_fault(settings: Settings) -> None:
    app = create_app(settings)

    def pieces() -> Iterator[bytes]:
        yield b"x" * 100
        raise NotFoundError("artefact 7 is not there")

    app.add_api_route("/api/v1/cut", lambda: StreamingResponse(pieces(), headers={"Content-Length": "200"}))
    with TestClient(app) as client, capture_logs() as logs:
        assert client.get("/api/v1/cut").content == b"x" * 100
    assert [(entry["event"], entry["log_level"], entry["reason"]) for entry in logs] == [
        ("answer_cut", "warning", "artefact 7 is not there")
    ]


def test_at_the_end_all_is_closed_although_redis_cannot_be(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(settings)
    pool = app.state.database.engine.pool

    def fail() -> None:
        raise ConnectionError("redis is away")

    monkeypatch.setattr(app.state.redis, "close", fail)
    with pytest.raises(ConnectionError), TestClient(app):
        pass
    assert app.state.database.engine.pool is not pool


@pytest.fixture
def app_without_database() -> FastAPI:
    nowhere = f"127.0.0.1:{free_port()}"
    return create_app(
        Settings(
            database_url=SecretStr(f"postgresql://nobody@{nowhere}/none"), redis_url=SecretStr(f"redis://{nowhere}/0")
        )
    )


def test_an_unreachable_database_is_503_and_health_reports_it(app_without_database: FastAPI) -> None:
    with TestClient(app_without_database) as client:
        ready = client.get("/api/v1/ready")
        assert (ready.status_code, error(ready)["code"]) == (503, "database_unavailable")
        assert ready.headers["retry-after"]
        health = client.get("/api/v1/health")
        assert client.get("/api/v1/alive").json() == {"status": "alive"}, "a supervisor must not restart it for that"
    assert health.status_code == 200
    assert health.json() | {"version": ""} == {
        "status": "degraded",
        "database": "down",
        "redis": "down",
        "scheduler": "unknown",
        "worker": "unknown",
        "version": "",
    }


def test_ready_needs_no_sign_in(client: TestClient) -> None:
    assert client.get("/api/v1/ready").json() == {"status": "ready"}


@pytest.mark.parametrize(("revision", "status"), [("0001", 503), ("9999", 200)])
def test_a_schema_that_is_behind_is_not_ready_and_one_of_the_next_release_is(
    client: TestClient, database: Database, revision: str, status: int
) -> None:
    with database.transaction() as session:
        newest = session.scalar(text("SELECT version_num FROM alembic_version"))
        session.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
    try:
        answer = client.get("/api/v1/ready")
    finally:
        with database.transaction() as session:
            session.execute(text("UPDATE alembic_version SET version_num = :newest"), {"newest": newest})
    assert answer.status_code == status
    if status == 503:
        refusal = error(answer)
        assert (refusal["code"], refusal["value"]) == ("schema_not_ready", revision)
        assert "iotide-server migrate" in refusal["remedy"]


@pytest.mark.parametrize(
    ("due", "worker"), [("+ interval '20 s'", "ok"), ("- interval '50 s'", "ok"), ("- interval '70 s'", "down")]
)
def test_a_worker_is_well_while_its_pulse_is_not_late(
    client: TestClient, database: Database, database_url: str, clock: MovedClock, due: str, worker: str
) -> None:
    with database.transaction() as session:
        want_pulse(session, NOW)
        session.execute(text(f"UPDATE work SET due_at = now() {due}"))  # noqa: S608 - of this test
    with psycopg.connect(database_url) as held:
        held.execute("SELECT pg_advisory_lock(%s)", (SCHEDULER_LOCK,))
        assert client.get("/api/v1/health").json()["worker"] == worker
        held.execute("SELECT pg_advisory_unlock(%s)", (SCHEDULER_LOCK,))  # the connection ends a moment later
    clock.move(1)  # an answer is cached for a second
    assert client.get("/api/v1/health").json()["worker"] == "unknown", "no work is requested then"


@pytest.fixture(scope="module")
def app_of_pages(migrated_url: str, tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """Share one application with pages: each new one would build all routes again."""
    built = tmp_path_factory.mktemp("built")
    (built / "assets").mkdir()
    (built / "index.html").write_text("<!doctype html><title>iotide</title>")
    (built / "assets" / "app-1a2b.js").write_text("x;" * 2000)
    (built / "docs").mkdir()
    (built / "docs/index.html").write_text("<title>Documentation</title>")
    update = {"frontend_directory": built, "docs_directory": built / "docs"}
    return create_app(settings_of(migrated_url).model_copy(update=update))


@pytest.fixture
def browser(app_of_pages: FastAPI, database_url: str) -> Iterator[TestClient]:
    del database_url  # emptied after the test
    with TestClient(app_of_pages, headers={"Accept": "text/html,*/*;q=0.8"}) as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/campaigns/7", "/login", "/docs-of-others"])
def test_every_page_is_the_browser_application(browser: TestClient, path: str) -> None:
    response = browser.get(path)
    assert response.status_code == 200
    assert "<title>iotide" in response.text
    assert response.headers["cache-control"] == "no-cache"


def test_files_that_the_build_named_by_content_are_kept(browser: TestClient) -> None:
    response = browser.get("/assets/app-1a2b.js", headers={"Accept": "*/*"})
    assert "immutable" in response.headers["cache-control"]
    assert response.headers["content-encoding"] == "gzip"
    assert browser.get("/assets/gone.js", headers={"Accept": "*/*"}).status_code == 404


def test_a_file_is_the_same_compressed_and_not(browser: TestClient) -> None:
    answers = [browser.get("/assets/app-1a2b.js", headers={"Accept-Encoding": way}) for way in ("gzip", "identity")]
    packed, plain = answers
    assert packed.text == plain.text == "x;" * 2000
    assert int(packed.headers["content-length"]) < 100
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-type"] == plain.headers["content-type"] == "text/javascript; charset=utf-8"


@pytest.mark.parametrize("path", ["/..%2f..%2fetc/passwd", "/assets/..%2f..%2f..%2fetc/passwd"])
def test_no_path_leads_out_of_the_application(browser: TestClient, path: str) -> None:
    assert "root:" not in browser.get(path, headers={"Accept": "*/*"}).text


def test_the_api_is_never_answered_with_a_page(browser: TestClient) -> None:
    response = browser.get("/api/v1/nonsense")
    assert (response.status_code, error(response)["code"]) == (404, "route_not_found")


@pytest.mark.parametrize("path", ["/", "/api/v1/ready", "/api/v1/nonsense", "/assets/app-1a2b.js", "/docs/"])
def test_security_headers_are_on_every_answer(browser: TestClient, path: str) -> None:
    headers = browser.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["script-src"] == policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_answers_of_the_api_are_not_kept(client: TestClient, admin: Person) -> None:
    assert client.get(CLUSTERS, headers=admin.headers).headers["cache-control"] == "no-store"


def test_the_error_of_a_missing_build_has_a_remedy(settings: Settings, tmp_path: Path) -> None:
    app = create_app(settings.model_copy(update={"frontend_directory": tmp_path, "docs_directory": tmp_path}))
    with TestClient(app) as client:
        page, docs = client.get("/"), client.get("/docs")
    assert (page.status_code, docs.status_code) == (503, 404)
    assert "npm run build" in page.text
    assert "./dev docs" in docs.text


def operations(client: TestClient) -> Iterator[tuple[str, dict[str, Any]]]:
    document = client.get("/api/v1/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_operation_is_described_with_an_example_and_its_errors(client: TestClient) -> None:
    names = []
    for name, operation in operations(client):
        assert operation["summary"], name
        assert operation["description"], name
        names.append(operation["operationId"])
        assert {"422", "500", "503"} <= set(operation["responses"]), name
        assert ("401" in operation["responses"]) >= ("security" in operation), name
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            for media_type, media in part.get("content", {}).items():
                is_binary = media.get("schema", {}).get("format") == "binary"
                is_binary |= media_type == "application/octet-stream"
                assert "example" in media or is_binary, (name, media_type)
    assert len(names) == len(set(names))
    assert all(name.isidentifier() and name.islower() for name in names)


def test_responses_declare_the_fields_that_are_always_present(client: TestClient) -> None:
    document = client.get("/api/v1/openapi.json").json()
    for name in (
        "ClusterOutput",
        "NodeOutput",
        "TargetOutput",
        "Token",
        "UserOutput",
        "AuditEntryOutput",
        "ErrorDetail",
    ):
        schema = document["components"]["schemas"][name]
        assert set(schema["required"]) == set(schema["properties"]), name


def test_large_answers_are_compressed(client: TestClient) -> None:
    response = client.get("/api/v1/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert response.headers["content-encoding"] == "gzip"
    assert len(gzip.compress(response.content)) < len(response.content) / 5
