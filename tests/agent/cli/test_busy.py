"""Server that answers "not yet": a command waits up to its timeout, then continues or explains the failure."""

import httpx2
import pytest

from iotide_agent.cli.api import Api
from iotide_agent.cli.problems import RefusedError

BUSY = {"error": {"code": "one_at_a_time", "message": "another heavy request of yours is under way"}}


def api_of(answers: list[httpx2.Response], pauses: list[float]) -> Api:
    transport = httpx2.MockTransport(lambda _: answers.pop(0))
    return Api("http://iotide", "token", None, transport=transport, pause=pauses.append)


def test_a_request_that_came_too_early_is_sent_again_after_the_pause_that_the_server_names() -> None:
    pauses: list[float] = []
    busy = [httpx2.Response(429, json=BUSY, headers={"Retry-After": after}) for after in ("1", "7", "900")]
    with api_of([*busy, httpx2.Response(200, json={"id": 1})], pauses) as api:
        assert api.post("/runs/1/readings", {}) == {"id": 1}
    assert pauses == [1.0, 7.0, 30.0]


def test_a_server_that_stays_busy_is_reported_with_its_message() -> None:
    pauses: list[float] = []
    busy = [httpx2.Response(429, json=BUSY, headers={"Retry-After": "1"}) for _ in range(10)]
    with api_of(busy, pauses) as api, pytest.raises(RefusedError, match="another heavy request of yours"):
        api.post("/runs/1/readings", {})
    assert len(pauses) == 9


def test_a_refusal_without_a_time_is_not_asked_again() -> None:
    pauses: list[float] = []
    with api_of([httpx2.Response(429, json=BUSY)], pauses) as api, pytest.raises(RefusedError):
        api.post("/enrol", {})
    assert pauses == []
