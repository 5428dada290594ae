"""The id of a request in its answer, its error, and every log line about it."""

import re

import pytest
import structlog
from factories.people import Person
from fastapi.testclient import TestClient
from pydantic import SecretStr
from structlog.contextvars import merge_contextvars
from structlog.testing import LogCapture

from iotide_server.main import create_app
from iotide_server.settings import Settings


def test_an_answer_has_the_id_that_was_made_for_its_request(client: TestClient) -> None:
    ids = [client.get("/api/v1/alive").headers["x-request-id"] for _ in range(2)]
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in ids)
    assert ids[0] != ids[1]


def test_a_refusal_shows_its_request_id(client: TestClient, admin: Person) -> None:
    refused = client.get("/api/v1/runs/7", headers=admin.headers | {"X-Request-Id": "proxy-0815-a.b_c"})
    assert refused.headers["x-request-id"] == refused.json()["error"]["request_id"] == "proxy-0815-a.b_c"
    too_large = client.post("/api/v1/clusters", headers={"Content-Length": "99999999"})
    assert too_large.json()["error"]["request_id"] == too_large.headers["x-request-id"]


@pytest.mark.parametrize(
    "given", ["", "short", "x" * 65, "with blank in it", "a\tb-c-d-e-f", "../../etc/passwd", "é" * 9]
)
def test_an_id_that_could_confuse_a_log_is_replaced(client: TestClient, given: str) -> None:
    answered = client.get("/api/v1/alive", headers={b"X-Request-Id": given.encode()}).headers["x-request-id"]
    assert re.fullmatch("[0-9a-f]{32}", answered)


def test_lines_about_a_request_have_its_id_and_what_its_path_is_about(settings: Settings) -> None:
    app = create_app(settings)
    seen = LogCapture()

    def fail() -> None:
        structlog.get_logger().info("inside")
        raise RuntimeError("a fault")

    app.add_api_route("/api/v1/orders/17/finish", fail)
    structlog.configure(processors=[merge_contextvars, seen])
    try:
        with TestClient(app) as client:
            answer = client.get("/api/v1/orders/17/finish")
    finally:
        structlog.reset_defaults()
    assert answer.status_code == 500
    wanted = {"request_id": answer.json()["error"]["request_id"], "order_id": 17}
    assert [line["event"] for line in seen.entries] == ["inside", "request_failed"]
    assert all(wanted.items() <= line.items() for line in seen.entries)


def test_an_error_of_the_database_shows_no_value(settings: Settings) -> None:
    assert create_app(settings).state.database.engine.hide_parameters


def test_the_settings_know_two_forms_of_logs() -> None:
    url = SecretStr("postgresql://nowhere/none")
    with pytest.raises(ValueError, match="'plain' or 'json'"):
        Settings.model_validate({"database_url": url, "redis_url": url, "log_format": "xml"})
