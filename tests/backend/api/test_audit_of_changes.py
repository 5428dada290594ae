"""Audit entries of every route that changes something: the state before and after, and no secret."""

import base64
import json
from collections.abc import Iterator

import pytest
from factories.changed_site import STORY, ChangedSite, digests
from factories.clock import MovedClock
from factories.routes import declared_routes
from fastapi import FastAPI
from fastapi.testclient import TestClient

from iotide_server.kit.db import Database
from iotide_server.kit.vault import Vault
from iotide_server.main import API
from iotide_server.notifications.addresses import Reach
from iotide_server.notifications.deliveries import Office
from iotide_server.notifications.letters import Parcel
from iotide_server.notifications.sending import AttemptOutcome, Courier, Result

LEAVE_NONE = {
    f"POST {API}/campaigns/preview": "stores nothing",
    f"POST {API}/schedules/preview": "stores nothing",
    f"POST {API}/campaigns/{{campaign_id}}/pause/look": "asks agents to look again, and changes nothing",
    **{
        f"POST {API}/agent/{path}": "an agent's reports and measurements; the run's own log has them"
        for path in ("hello", "beat", "batch", "orders/{order_id}/claim", "orders/{order_id}/finish")
    },
    f"POST {API}/agent/rotation": "offers secrets; their confirmation is audited",
    f"PUT {API}/agent/orders/{{order_id}}/artefacts/{{name}}": "raw output, which is stored with its run",
}
HAS = {"made": (False, True), "changed": (True, True), "removed": (True, None), "neither": (False, None)}
"""Which of before and after an entry has, by shape; None: either."""


class Nowhere(Courier):
    """Sends no message."""

    def send(self, parcel: Parcel) -> AttemptOutcome:
        return AttemptOutcome(Result.REFUSED, f"{parcel.kind} goes nowhere")


@pytest.fixture
def client(client: TestClient, shared_app: FastAPI, clock: MovedClock) -> Iterator[TestClient]:
    """API of an installation that has a key for secrets and sends no message."""
    state = shared_app.state
    before = state.vault, state.office
    state.vault = Vault(base64.b64encode(b"v" * 32).decode())
    state.office = Office(state.vault, Nowhere(Reach()), "https://tide.example.org", clock)
    yield client
    state.vault, state.office = before


@pytest.fixture
def changed(client: TestClient, database: Database, clock: MovedClock) -> ChangedSite:
    site = ChangedSite(client, database, clock)
    for part in STORY:
        part(site)
    return site


def test_every_change_over_the_api_leaves_its_trace_and_no_secret(changed: ChangedSite, shared_app: FastAPI) -> None:
    changing = {str(route) for route in declared_routes(shared_app) if route.method != "GET"}
    called = {done.route for done in changed.done}
    assert changing - LEAVE_NONE.keys() - called == set(), "routes that the story neither calls nor explains"
    assert called - changing == set()
    assert LEAVE_NONE.keys() - changing == set(), "explained, but no route"

    recorded = [(done, [_shape(entry.before, entry.after) for entry in done.entries]) for done in changed.done]
    without = {done.route: (done.shape, shapes) for done, shapes in recorded if not _is_recorded(done.shape, shapes)}
    assert without == {}
    without_principal = [entry.action for entry in changed.all_entries() if not entry.principal_name]
    assert without_principal == []
    by_request = [entry for done in changed.done for entry in done.entries]
    assert {entry.address for entry in by_request} == {"testclient"}, "each has its origin"

    written = json.dumps([[entry.principal_name, entry.before, entry.after] for entry in changed.all_entries()])
    assert len(changed.secrets) > 10
    assert [secret for secret in [*changed.secrets, *digests(changed.secrets)] if secret in written] == []


def _shape(before: object, after: object) -> tuple[bool, bool]:
    return before is not None, after is not None


def _is_recorded(shape: str, shapes: list[tuple[bool, bool]]) -> bool:
    has_before, has_after = HAS[shape]
    return any(before is has_before and has_after in {None, after} for before, after in shapes)
