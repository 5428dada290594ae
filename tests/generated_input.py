"""The API's OpenAPI description, prepared for schemathesis to generate input from, on existing rows."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import pytest
import schemathesis
from factories.announced import NOW
from factories.clusters import make_cluster, node_token
from factories.measured import Measured, finish, sample
from factories.people import person
from factories.ready_cluster import ReadyCluster
from factories.schema import create_migrated
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, settings
from pydantic import SecretStr
from schemathesis.config import SchemathesisConfig
from schemathesis.python.asgi import ASGIClient, get_client
from schemathesis.schemas import BaseSchema
from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import Role
from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.change_feed import routes as live
from iotide_server.clusters.models import Cluster
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.digests import digest
from iotide_server.kit.turns import Turns
from iotide_server.main import API, create_app
from iotide_server.notifications.deliveries import Office
from iotide_server.notifications.sending import AttemptOutcome, Result
from iotide_server.settings import Settings
from iotide_server.tables import metadata
from iotide_server.trends.points.service import recompute_points

EXAMPLES_AN_OPERATION = int(os.environ.get("IOTIDE_EXAMPLES", "8"))
"""Generated for the admin; all answers to them are checked. The other callers send a quarter of them."""
LONG_RUN = 100
"""From this number on the other callers get the edge-case inputs too, which take most of the time."""

APP = create_app(
    Settings(
        database_url=SecretStr("postgresql://nowhere/none"), redis_url=SecretStr("redis://127.0.0.1:1"), chromium=""
    )
)
REFUSALS = ["400", "401", "403", "404", "405", "409", "413", "415", "422", "5xx"]
"""The server rejects a list with too many bytes before it reads it: with 413, which is not expected by default."""


def described(*, edges: bool) -> BaseSchema:
    """Return the description; with `edges` it adds hundreds of inputs at the limits of each field."""
    config = {
        "checks": {"negative_data_rejection": {"expected-statuses": REFUSALS}},
        "phases": {"coverage": {"enabled": edges}},
    }
    return schemathesis.openapi.from_asgi(f"{API}/openapi.json", APP, config=SchemathesisConfig.from_dict(config))


TABLES = {
    **{
        name: name
        for name in (
            *(
                "artefact",
                "blackout",
                "campaign",
                "channel",
                "cluster",
                "join_token",
                "node",
                "run",
                "schedule",
                "series",
                "template",
            ),
            "target",
        )
    },
    "order": "node_order",
    "user": "user_account",
}


@dataclass(frozen=True, repr=False)  # hypothesis prints the arguments of each example, in case it fails
class Site:
    """Ids of existing rows, by the names of parameters, and the admin's credentials.

    Attributes:
        client: sends all cases. Schemathesis would make one for each of them.
    """

    client: ASGIClient
    ids: Mapping[str, list[int]]
    headers: Mapping[str, str]
    others: Mapping[str, Mapping[str, str]]


@contextmanager
def site_for(postgres_server: PrivatePostgres, name: str) -> Iterator[Site]:
    """Make a site in a database of this name, which the application uses."""
    database = Database(open_engine(create_migrated(postgres_server, name)))
    with database.transaction() as session:
        admin = person(session, "ada", Role.ADMIN, now=NOW)
        ready = ReadyCluster(session, NOW, name="ready")
        measured = Measured(session, NOW)
        campaign = measured.campaign()
        campaign.plan = ready.plan()
        cell = measured.cell(campaign)
        measured.deliver(cell, finish(NOW, sample(100.0, operation="write"), sample(0.5, "wait")))
        recompute_points(session, cell.id)
        others = others_of(session, ready.cluster, make_cluster(session, "elsewhere"))
        ready.nodes[0].token_sha256 = digest(node_token("n1"))
    APP.state.database = database
    APP.state.turns = turns = Turns(postgres_server.url_of(name))
    with TestClient(APP) as client, pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "STREAM_SECONDS", 0.01)
        submitted = client.post(f"{API}/campaigns", json=ready.plan(), headers=admin.headers)
        assert submitted.status_code == 201, submitted.text
        schedule = {"name": "nightly", "plan": ready.plan(), "cron": "30 2 * * *", "time_zone": "Europe/Zurich"}
        window = {"starts_at": "2999-01-01T00:00:00Z", "ends_at": "2999-01-02T00:00:00Z", "reason": "firmware"}
        receiver = {"kind": "email", "host": "mail", "sender": "a@example.org", "recipients": ["b@example.org"]}
        channel = {"name": "people", "receiver": receiver}
        patch.setattr(Office, "send", lambda *_: AttemptOutcome(Result.REFUSED, "this test sends nothing"))
        for path, body in (
            ("schedules", schedule),
            ("templates", {"name": "weekly", "plan": ready.plan()}),
            (f"clusters/{ready.cluster.id}/blackouts", window),
            ("channels", channel),
        ):
            made = client.post(f"{API}/{path}", json=body, headers=admin.headers)
            assert made.status_code == 201, made.text
        with without_cookies() as sender:
            yield Site(sender, rows(database), admin.headers, others)
    turns.close()
    database.engine.dispose()
    postgres_server.drop_database(name)


@contextmanager
def without_cookies() -> Iterator[ASGIClient]:
    """Yield a client that keeps no cookies between requests."""
    app: Any = APP  # the client declares a dict and takes any mapping
    with get_client(app) as client:
        client.trust_env = False  # otherwise it looks for proxies and a .netrc at each request
        client.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        yield client


def others_of(session: Session, here: Cluster, there: Cluster) -> dict[str, Mapping[str, str]]:
    """Return the headers of every caller except the admin."""
    return {
        "anonymous": {},
        "node": {"Authorization": f"Bearer {node_token('n1')}"},
        "viewer": person(session, "grace", Role.VIEWER, here.id, now=NOW).headers,
        "operator": person(session, "linus", Role.OPERATOR, here.id, now=NOW).headers,
        "other operator": person(session, "ken", Role.OPERATOR, there.id, now=NOW).headers,
    }


def rows(database: Database) -> dict[str, list[int]]:
    with database.transaction() as session:
        return {
            f"{parameter}_id": list(session.scalars(select(metadata.tables[table].c.id))) or [1]
            for parameter, table in TABLES.items()
        }


def with_real_ids(site: Site, parameters: dict[str, Any] | None) -> dict[str, Any]:
    """Replace three of four generated ids by ids of existing rows."""
    return {
        name: site.ids[name][value % len(site.ids[name])]
        if name in site.ids and type(value) is int and value > 0 and value % 4
        else value
        for name, value in (parameters or {}).items()
    }


def examples(count: int) -> settings:
    """Return the settings for that many examples of each operation, the same ones each time."""
    return settings(
        max_examples=count,
        phases=[Phase.explicit, Phase.generate],
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
