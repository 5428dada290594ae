"""Finding 9: anonymous readers did not see a name in a field, but in a sentence. No stored sentence names a user."""

import ast
import asyncio
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import pytest
from access.requests import REQUESTS
from access.rules import Ownership
from access.site import AccessSite
from access.table import TakenBack, asked
from factories.announced import NOW
from factories.people import person
from factories.routes import DeclaredRoute, declared_routes
from fastapi import FastAPI
from sqlalchemy import select, text

import iotide_server
from iotide_server.accounts.models import Role, UserSession
from iotide_server.accounts.roles.rules import CSRF_HEADER, AnyPerson, HasRole
from iotide_server.accounts.sessions.cookies import SESSION_COOKIE
from iotide_server.kit.db import Database
from iotide_server.kit.digests import digest
from iotide_server.main import API
from iotide_server.schedules.firing import fire_due
from iotide_server.schedules.models import Schedule
from iotide_server.tables import metadata

NAME: Final = "zzsecretperson"
LABEL: Final = "zzsecretlabel"
SECRET: Final = "zzsecret"
"""Prefixes of both."""
HIDDEN_FIELDS: Final = {
    *("user_account.name", "api_token.name"),
    *("audit_entry.principal_name", "audit_entry.before", "audit_entry.after"),
    *(
        "drain.by",
        "firing.asked_by",
        "event.told_by",
        "reading.read_by",
        "scratch_set.enabled_by",
        "alert_action.who",
        "incident_action.who",
        "series_mute.who",
    ),
    *("delivery.text", "delivery.data"),
}
"""Columns that hold names: of `PersonShown` fields, or of answers that anonymous readers never get."""
SOURCE: Final = Path(iotide_server.__file__).parent
MAY_NAME: Final = {"accounts/roles/rules.py", "notifications/deliveries.py"}
"""A rejection for this caller, and a message to a channel with receivers that an administrator chose."""
TABLES: Final = {
    **{f"{name}_id": name for name in ("alert", "artefact", "campaign", "cluster", "node", "reading", "run")},
    **{f"{name}_id": name for name in ("schedule", "series", "target", "template")},
    "rule_id": "alert_rule",
}
"""Source of the ids of each path parameter."""


class Culprit:
    """An administrator of all clusters with a secret name and token, who may send any request."""

    def __init__(self, site: AccessSite, app: FastAPI, database: TakenBack) -> None:
        self.site, self.app, self.database = site, app, database
        with database.transaction() as session:
            made = person(session, NAME, Role.ADMIN, now=NOW)
            session.execute(text("UPDATE api_token SET name = :label WHERE name = 'test'"), {"label": LABEL})
            opened = {"rotated_at": NOW, "last_seen_at": NOW, "expires_at": NOW + timedelta(days=1)}
            session.add(UserSession(user_id=made.principal.user_id, secret_sha256=digest(NAME), **opened))
        self.by_browser = {"Cookie": f"{SESSION_COOKIE}={NAME}", CSRF_HEADER: "1"}
        self.by_token = made.headers

    def ask(self, route: DeclaredRoute) -> int:
        """Return the status of the request that the table of access has for the route."""
        request = REQUESTS[str(route)]
        ids = {**self.site.ids, **{name: self.site.ids[key] for name, key in request.names.items()}}
        url = f"{route.url(ids)}?{request.query.format(**ids)}"
        body = request.body(ids) if request.body else None
        return self.site.client.request(route.method, url, json=body, headers=self.by_browser).status_code

    def do(self, name: str, body: object = None, *, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Do one action, by the API token or by other credentials; return the answer."""
        method, path = name.split(" ")
        url = f"{API}{path.format(**self.site.ids)}"
        response = self.site.client.request(method, url, json=body, headers=headers or self.by_token)
        assert response.is_success, f"{name}: {response.text}"
        answer: dict[str, Any] = response.json() if response.content else {}
        return answer

    def change(self, statement: str) -> None:
        with self.database.transaction() as session:
            session.execute(text(statement), self.site.ids)

    def stored(self) -> set[str]:
        """Return the columns that hold the name or the label."""
        with self.database.transaction() as session:
            found = set()
            for table in metadata.sorted_tables:
                columns = session.scalars(
                    text(
                        f"SELECT DISTINCT pair.name FROM {table.name} AS one,"  # noqa: S608
                        " jsonb_each_text(to_jsonb(one)) AS pair (name, value) WHERE pair.value LIKE :any"
                    ),
                    {"any": f"%{SECRET}%"},
                )
                found |= {f"{table.name}.{column}" for column in columns}
        return found

    def naming(self, headers: Mapping[str, str], only: Collection[str] | None = None) -> set[str]:
        """Return the routes whose answers, about any existing object, contain the name or the label."""
        wanted = [
            (str(route).replace(API, ""), url, REQUESTS[str(route)].streams)
            for route in declared_routes(self.app)
            if route.method == "GET" and "/agent/" not in route.path
            if only is None or str(route).replace(API, "") in only
            for url in self._urls(route)
        ]
        return asyncio.run(self._naming(wanted, headers))

    async def _naming(self, wanted: Sequence[tuple[str, str, bool]], headers: Mapping[str, str]) -> set[str]:
        found = set()
        for route, url, streams in wanted:
            self.app.state.database = Database(self.database.engine) if streams else self.database
            path, _, query = url.partition("?")
            answer = await asked(self.app, "GET", path, query, headers)
            assert answer.status < HTTPStatus.INTERNAL_SERVER_ERROR, url
            if SECRET in answer.text:
                found.add(route)
        return found

    def _urls(self, route: DeclaredRoute) -> Iterator[str]:
        query = REQUESTS[str(route)].query.format(**self.site.ids)
        parameters = re.findall(r"{(\w+)}", route.path)
        assert len(parameters) < 2, route
        if parameters and parameters[0] in TABLES:
            with self.database.transaction() as session:
                ids = session.scalars(text(f"SELECT id FROM {TABLES[parameters[0]]}")).all()  # noqa: S608
            yield from (f"{route.url({parameters[0]: one})}?{query}" for one in ids)
        else:
            yield f"{route.url(self.site.ids)}?{query}"


@pytest.fixture
def culprit(site: AccessSite, shared_app: FastAPI, taken_back: TakenBack) -> Iterator[Culprit]:
    """Open the installation for reading."""
    shared_app.state.public_read = True
    yield Culprit(site, shared_app, taken_back)
    shared_app.state.public_read = False


def test_nothing_that_a_person_does_puts_a_name_into_a_sentence(culprit: Culprit) -> None:
    wrong, undone = [], []
    for route in declared_routes(culprit.app):
        is_for_people = isinstance(route.rules[0], HasRole | AnyPerson)
        if route.method == "GET" or not is_for_people or REQUESTS[str(route)].ownership is Ownership.A_PERSONS:
            continue
        with culprit.database.taken_back():
            status = culprit.ask(route)
            if status != (REQUESTS[str(route)].answer or route.status):
                undone.append((str(route), status))
            wrong += [f"{route}: {column}" for column in sorted(culprit.stored() - HIDDEN_FIELDS)]
    assert undone == []
    assert wrong == []


def end_runs(culprit: Culprit) -> set[str]:
    """Cancel a waiting run and one that its node has claimed, retry, add repeats, and reparse raw output."""
    order = REQUESTS[f"POST {API}/agent/orders/{{order_id}}/claim"]
    assert order.body
    node = culprit.site.headers["the order's node"]
    culprit.do("POST /agent/orders/{order_id}/claim", order.body(culprit.site.ids), headers=node)
    culprit.do("POST /runs/{run_id}/cancel")
    culprit.do("POST /runs/{run_id}/retry")
    culprit.do("POST /campaigns/{campaign_id}/repeats", {"repeats": 1})
    culprit.do("POST /campaigns/{campaign_id}/cancel")
    reading = REQUESTS[f"POST {API}/runs/{{run_id}}/readings"]
    assert reading.body
    culprit.do("POST /runs/{measured_run_id}/readings", reading.body(culprit.site.ids))
    return {"GET /runs", "GET /runs/{run_id}", "GET /runs/{run_id}/events"}


def give_a_node_up(culprit: Culprit) -> set[str]:
    """Mark a node as dead on which a run may still load, and revoke another one."""
    order = REQUESTS[f"POST {API}/agent/orders/{{order_id}}/claim"]
    assert order.body
    node = culprit.site.headers["the order's node"]
    culprit.do("POST /agent/orders/{order_id}/claim", order.body(culprit.site.ids), headers=node)
    culprit.change("UPDATE node_beat SET seen_at = seen_at - interval '1 h' WHERE node_id = :node_id")
    statement = culprit.do("GET /nodes/{node_id}/dead")
    culprit.do("POST /nodes/{node_id}/dead", {"statement_sha256": statement["statement_sha256"]})
    culprit.do("POST /nodes/{idle_node_id}/revoke")
    queue = "GET /clusters/{cluster_id}/queue"
    runs = {"GET /runs", "GET /runs/{run_id}", "GET /runs/{run_id}/events"}
    return {"GET /nodes", "GET /nodes/{node_id}", "GET /clusters/{cluster_id}/nodes", queue} | runs


def lose_a_run_for_good(culprit: Culprit) -> set[str]:
    """Mark a node as dead in the last attempt of a run with a point for a series, and twice with a schedule's run."""
    routes = give_a_node_up(culprit)
    culprit.change(
        "UPDATE run SET state = 'failed', validity = 'valid', ended_at = now(), reason_code = lost.reason_code,"
        " reason = lost.reason, reason_actor = lost.reason_actor"
        " FROM attempt AS lost WHERE lost.run_id = :first_run_id AND run.id = :measured_run_id"
    )
    culprit.change(
        "INSERT INTO firing (schedule_id, planned_at, fired_at, problem)"
        " VALUES (:schedule_id, now() - interval '1 d', now() - interval '1 d', 'its node was away')"
    )
    culprit.change(
        "INSERT INTO firing (schedule_id, planned_at, fired_at, campaign_id)"
        " SELECT :schedule_id, now(), now(), campaign_id FROM run WHERE id = :measured_run_id"
    )
    return routes | {"GET /series/{series_id}/points", "GET /board"}


def take_things_in_hand(culprit: Culprit) -> set[str]:
    """Drain, maintain, add an event, acknowledge and judge an alert, plan and publish."""
    culprit.do("PUT /drain", {"reason": "all stops"})
    culprit.do("PUT /clusters/{cluster_id}/drain", {"reason": "it stops"})
    culprit.do("PUT /targets/{target_id}/drain", {"reason": "its disk is replaced"})
    window = {"starts_at": "2998-01-01T00:00:00Z", "ends_at": "2998-01-02T00:00:00Z", "reason": "firmware"}
    culprit.do("POST /clusters/{cluster_id}/blackouts", window)
    event = culprit.do("POST /trend-events", {"cluster": "alpha-measured", "text": "RAID rebuilt"})
    for action in ({"action": "acknowledge"}, {"action": "comment", "comment": "seen"}):
        culprit.do("POST /alerts/{alert_id}/actions", action)
    culprit.do("PUT /alerts/{alert_id}/mute", {"until": "2999-01-01T00:00:00Z"})
    culprit.do("POST /alerts/{alert_id}/actions", {"action": "expect", "event_id": event["id"]})
    culprit.do("DELETE /drain")
    culprit.do("DELETE /clusters/{cluster_id}/drain")
    for path in ("/templates", "/schedules", "/campaigns"):
        body = REQUESTS[f"POST {API}{path}"].body
        assert body
        culprit.do(f"POST {path}", body(culprit.site.ids))
    culprit.do("POST /schedules/{schedule_id}/run")
    culprit.change("UPDATE schedule SET owner_id = (SELECT id FROM user_account WHERE name = 'zzsecretperson')")
    lists = {"GET /drains", "GET /alerts", "GET /trend-events", "GET /templates", "GET /schedules", "GET /campaigns"}
    one = {"GET /alerts/{alert_id}", "GET /schedules/{schedule_id}/firings", "GET /targets/{target_id}"}
    return lists | one | {"GET /clusters/{cluster_id}/queue"} | end_runs(culprit)


@pytest.mark.parametrize("actions", [take_things_in_hand, lose_a_run_for_good])
def test_only_signed_in_users_see_names(culprit: Culprit, actions: Callable[[Culprit], set[str]]) -> None:
    routes = actions(culprit)
    assert culprit.naming({}) == set()
    assert culprit.naming(culprit.by_browser, routes) == routes


def test_a_schedule_reports_without_a_name_that_its_owner_lost_the_role(culprit: Culprit) -> None:
    own = "(SELECT id FROM user_account WHERE name = 'zzsecretperson')"
    culprit.change(f"UPDATE schedule SET owner_id = {own}")  # noqa: S608
    culprit.change(f"UPDATE role_grant SET role = 'viewer' WHERE user_id = {own}")  # noqa: S608
    with culprit.database.transaction() as session:
        due_at = session.scalars(select(Schedule.due_at)).one()
    assert due_at is not None
    assert fire_due(culprit.database, due_at)
    firings = culprit.site.client.get(f"{API}/schedules/{culprit.site.ids['schedule_id']}/firings")
    (firing,) = firings.json()["items"]
    assert firing["problem"].startswith("the schedule's owner is not operator of this cluster")
    assert culprit.naming({}, {"GET /schedules", "GET /schedules/{schedule_id}/firings"}) == set()


def test_no_sentence_is_written_with_the_name_of_the_caller() -> None:
    """Covers what no route of the test above does; it stores `OPERATOR`, and its row has `principal.actor`."""
    wrong = [
        f"{file.relative_to(SOURCE)}:{part.lineno}"
        for file in SOURCE.rglob("*.py")
        if str(file.relative_to(SOURCE)) not in MAY_NAME
        for sentence in ast.walk(ast.parse(file.read_text()))
        if isinstance(sentence, ast.JoinedStr)
        for part in ast.walk(sentence)
        if isinstance(part, ast.Attribute) and ast.unparse(part) in {"principal.name", "caller.name", "owner.name"}
    ]
    assert wrong == []


def test_rows_that_the_previous_release_still_stores_are_not_shown(culprit: Culprit) -> None:
    """Between the migration and its restart it writes sentences as before."""
    values = "reason_code = 'cancelled_by_person', reason = 'cancelled by zzsecretperson (token zzsecretlabel)'"
    culprit.change(f"UPDATE run SET state = 'cancelled', ended_at = now(), {values} WHERE id = :run_id")  # noqa: S608
    culprit.change("INSERT INTO run_event (run_id, kind, text) VALUES (:run_id, 'added', 'added by zzsecretperson')")
    culprit.change("UPDATE node SET problem = 'zzsecretperson revoked alpha-n1 at noon' WHERE id = :node_id")
    seen = {"GET /runs", "GET /runs/{run_id}", "GET /runs/{run_id}/events", "GET /nodes", "GET /nodes/{node_id}"}
    assert culprit.naming(culprit.by_browser, seen) == seen
    assert culprit.naming({}, seen) == set()
