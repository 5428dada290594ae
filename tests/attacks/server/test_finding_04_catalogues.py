"""A node's announcement of a workload affects only its own cluster, and never iotide's own workloads."""

from typing import Any

import pytest
from factories.announced import OPTION_DEFAULTS, workload
from factories.clock import MovedClock
from factories.clusters import node_token
from factories.people import Person
from factories.ready_cluster import announced
from factories.two_clusters import TwoClusters
from fastapi.testclient import TestClient
from sqlalchemy import select
from structlog.testing import capture_logs

from iotide_server.campaigns.models import Campaign, Cell
from iotide_server.kit.db import Database
from iotide_server.main import API
from iotide_server.results.ingest.repository import measured_cell
from iotide_server.results.ingest.series import Measured, series_ids
from iotide_server.results.models import Series
from iotide_server.workloads.models import Workload, WorkloadBaseline
from iotide_server.workloads.repository import option_titles
from iotide_server.workloads.service import recorded_announcements
from iotide_wire.catalogue import MetricSpec, WorkloadAnnouncement
from iotide_wire.expressions import Number, Option
from iotide_wire.units import Unit

SIZE = Option.of("size")
ONE = Number.of(1)
ONE_MORE = MetricSpec(name="extra", title="Extra", unit=Unit.COUNT, better="higher", labels=())


@pytest.fixture
def clusters(client: TestClient, database: Database, admin: Person) -> TwoClusters:
    return TwoClusters(client, database, admin)


def real(name: str, **changes: object) -> WorkloadAnnouncement:
    (found,) = (one for one in announced(()) if one.name == name)
    return found.model_copy(update=changes)


def measure(clusters: TwoClusters, cluster: str, name: str, metric: str) -> Series:
    """Submit a campaign, and return the series of a number of its first cell."""
    options = {"file_size_bytes": "64 MiB"} if name == "dd" else {}  # its default has no room
    plan = clusters.clusters[cluster].plan(workloads=[{"workload": name, "options": options}])
    answer = clusters.client.post(f"{API}/campaigns", json=plan, headers=clusters.admin.headers)
    assert answer.status_code == 201, answer.text
    with clusters.database.transaction() as session:
        cell_id = session.scalars(
            select(Cell.id).join(Campaign, Campaign.id == Cell.campaign_id).where(Campaign.id == answer.json()["id"])
        ).one()
        cell = measured_cell(session, cell_id)
        (series_id,) = series_ids(session, cell, [Measured(metric, {})])
        return session.get_one(Series, series_id)


def baseline(database: Database, name: str) -> dict[str, Any]:
    with database.transaction() as session:
        return session.get_one(WorkloadBaseline, name).option_defaults


@pytest.mark.parametrize("name", ["fio", "dd", "create"])
def test_another_clusters_node_splits_no_series(clusters: TwoClusters, name: str) -> None:
    metric = real(name).metrics[0].name
    before = measure(clusters, "beta", name, metric)
    poisoned = real(name, breaks_series=True, metrics=(*real(name).metrics, ONE_MORE))
    shown = clusters.say("alpha", poisoned)
    clusters.say("beta", real(name))
    assert measure(clusters, "beta", name, metric).id == before.id
    assert shown[name]["unavailable_because"].startswith(f"rejected: {name}: announcement: revision ")


def test_nor_does_it_by_saying_of_a_known_revision_that_it_breaks_series(clusters: TwoClusters) -> None:
    """Not even the node that announces a revision first; the digest does not cover `breaks series`."""
    metric = real("fio").metrics[0].name
    before = measure(clusters, "beta", "fio", metric)
    (older,) = recorded_announcements(["fio"])
    clusters.say("alpha", older.model_copy(update={"breaks_series": True}))
    assert measure(clusters, "beta", "fio", metric).id == before.id


def test_the_server_itself_knows_which_revision_breaks_series(clusters: TwoClusters) -> None:
    """Revision 2 of `create` does, and 3 does not."""
    clusters.say("alpha", real("create", breaks_series=True))
    assert measure(clusters, "beta", "create", "operation_rate").series_revision == 2


def test_another_clusters_node_freezes_no_default(clusters: TwoClusters, database: Database) -> None:
    before = baseline(database, "fio")
    clusters.say("alpha", real("fio", option_defaults=real("fio").option_defaults | {"of_the_next_release": 7}))
    assert baseline(database, "fio") == before


def test_a_node_gives_no_workload_of_iotide_another_title(clusters: TwoClusters) -> None:
    """Not even the first node that announces a revision, here that of the sample data."""
    (honest,) = recorded_announcements(["fio"])
    lies = {"title": "pwned", "description": "pwned", "tool": "pwned", "breaks_series": True}
    clusters.say("alpha", honest.model_copy(update=lies))
    clusters.say("beta", honest)
    shown = [clusters.catalogue(name)["fio"] for name in ("alpha", "beta")]
    assert {one["schema_sha256"] for one in shown} == {honest.schema_sha256}
    texts = [(one["title"], one["description"], one["tool"]) for one in shown]
    assert texts == [(honest.title, honest.description, honest.tool)] * 2


def test_a_revision_that_this_server_does_not_know_is_rejected_with_the_remedy(clusters: TwoClusters) -> None:
    shown = clusters.say("alpha", real("fio", revision=9))["fio"]
    words = "rejected: fio: revision: this server does not know revision 9 of fio; upgrade the server first"
    assert (shown["available"], shown["unavailable_because"]) == (False, words)
    refused = clusters.preview("alpha", "fio")
    assert (refused.status_code, words in refused.json()["error"]["remedy"]) == (409, True)
    assert clusters.preview("beta", "fio").status_code == 200


def test_a_rejected_workload_is_on_its_nodes_page_alone(clusters: TwoClusters) -> None:
    """A row without options would empty the builder's form of that name for all clusters."""
    assert "fio" in clusters.say("alpha", real("fio", revision=9))
    assert "fio" not in clusters.catalogue("alpha")
    listed = [one for one in clusters.get("/workloads?limit=500&with_former=true")["items"] if one["name"] == "fio"]
    assert [one["revision"] for one in listed] == [real("fio").revision]


def test_a_plug_in_of_one_name_in_two_clusters_is_in_two_catalogues(clusters: TwoClusters, database: Database) -> None:
    def own(title: str, **changes: object) -> WorkloadAnnouncement:
        size = {"type": "integer", "title": f"{title} size"}
        schema = {"type": "object", "properties": {"size": size}, "additionalProperties": False}
        fields = {"title": title, "options_schema": schema, "option_defaults": {"size": 1}, "bytes_needed": SIZE}
        return workload("copy", **fields | {"bytes_moved": SIZE} | changes)

    clusters.say("beta", own("Ours"))
    before = measure(clusters, "beta", "copy", "write_bytes_per_second")
    clusters.say("alpha", own("Theirs", revision=2, breaks_series=True, option_defaults={"size": 1, "sync": "all"}))
    clusters.say("alpha", own("Theirs", breaks_series=True))
    assert (clusters.catalogue("alpha")["copy"]["title"], clusters.catalogue("beta")["copy"]["title"]) == (
        "Theirs",
        "Ours",
    )
    assert clusters.catalogue("alpha")["copy"]["id"] != clusters.catalogue("beta")["copy"]["id"]
    assert measure(clusters, "beta", "copy", "write_bytes_per_second").id == before.id
    ids = {name: one.cluster.id for name, one in clusters.clusters.items()}
    assert baseline(database, f"copy@{ids['beta']}") == {"size": 1}
    with database.transaction() as session:
        titles = {name: option_titles(session, ["copy"], [ids[name]])["copy"] for name in ids}
    assert titles == {"alpha": {"size": "Theirs size"}, "beta": {"size": "Ours size"}}


def test_the_same_announcement_of_two_clusters_is_two_entries_with_one_digest(clusters: TwoClusters) -> None:
    for name in ("alpha", "beta"):
        clusters.say(name, workload("copy"))
    shown = [clusters.catalogue(name)["copy"] for name in ("alpha", "beta")]
    assert len({one["id"] for one in shown}) == 2
    assert {one["schema_sha256"] for one in shown} == {workload("copy").schema_sha256}


def test_a_clusters_catalogue_has_an_end(clusters: TwoClusters, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide_server.workloads.repository.MOST_ENTRIES", 4)  # `command` is one
    shown = clusters.say("alpha", *(workload(f"copy{number}") for number in range(4)))
    assert [shown[f"copy{number}"]["available"] for number in range(3)] == [True] * 3
    assert "copy3" not in shown
    assert clusters.say("beta", workload("copy", option_defaults=OPTION_DEFAULTS))["copy"]["available"]


def test_entries_that_no_node_has_any_more_use_up_no_room_and_old_results_keep_theirs(
    clusters: TwoClusters, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iotide_server.workloads.repository.MOST_ENTRIES", 4)
    plain = {"options_schema": {"type": "object"}, "option_defaults": {}, "bytes_needed": ONE, "bytes_moved": ONE}
    clusters.say("alpha", workload("used", **plain))
    measure(clusters, "alpha", "used", "write_bytes_per_second")
    clusters.say("alpha", workload("copy0", revision=9, option_defaults=OPTION_DEFAULTS | {"to_come": 7}))
    for revision in range(1, 6):
        said = (workload(f"copy{number}", revision=revision) for number in range(3))
        shown = clusters.say("alpha", *said)
        assert [shown[f"copy{number}"]["available"] for number in range(3)] == [True] * 3
    former = {one["name"] for one in clusters.get("/workloads?limit=500&with_former=true")["items"]}
    assert "used" in former
    with database.transaction() as session:
        stored = session.scalars(select(Workload.name).where(Workload.announced_by == "alpha")).all()
        kept = session.scalars(
            select(WorkloadBaseline.option_defaults).where(WorkloadBaseline.name.like("copy%"))
        ).all()
    assert len(stored) <= 4 + 1
    assert kept == [OPTION_DEFAULTS] * 3


def test_a_hello_that_is_rejected_all_over_is_one_line_in_the_log(
    clusters: TwoClusters,
) -> None:
    with capture_logs() as lines:
        clusters.say("alpha", *(workload(f"bad{number}", options_schema={"type": "number"}) for number in range(50)))
    (said,) = [line for line in lines if line["event"] == "workloads_rejected"]
    assert (said["log_level"], said["count"]) == ("warning", 50)
    assert [one["workload"] for one in said["first"]] == ["bad0", "bad1", "bad10"]


def test_a_node_that_says_hello_after_hello_is_refused_until_its_share_is_back(
    clusters: TwoClusters, clock: MovedClock
) -> None:
    for _ in range(12):
        clusters.say("alpha")
    refused = clusters.greet("alpha")
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], refused.headers["Retry-After"]) == (429, "too_many_hellos", "10")
    assert "IOTIDE_REPORT_HELLOS_A_MINUTE" in error["remedy"]
    assert clusters.greet("beta").status_code == 200
    clock.move(9)
    assert clusters.greet("alpha").status_code == 429
    clock.move(1)  # an agent tries again every 10 s at the latest, and a rejected announcement has no effect
    assert clusters.greet("alpha").status_code == 200


def test_an_agent_that_restarts_every_5_seconds_is_not_kept_out(clusters: TwoClusters, clock: MovedClock) -> None:
    waits = []
    for _ in range(60):
        clock.move(5)
        tries = 0
        while clusters.greet("alpha").status_code != 200:
            tries += 1
            clock.move(1)
        waits.append(tries)
    assert max(waits) <= 10


def test_a_hello_beyond_the_share_is_refused_before_its_body_is_read(clusters: TwoClusters) -> None:
    for _ in range(12):
        clusters.say("alpha")
    headers = {"Authorization": f"Bearer {node_token('alpha')}", "Content-Type": "application/json"}
    answer = clusters.client.post(f"{API}/agent/hello", content="no JSON at all", headers=headers)
    assert answer.status_code == 429
