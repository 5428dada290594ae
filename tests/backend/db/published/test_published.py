"""Published results, loaded once for all of these tests, next to a user's own cluster."""

from collections.abc import Iterator
from typing import Any

import pytest
from factories.announced import NOW
from factories.clock import MovedClock
from factories.clusters import make_cluster
from factories.invariants import violations
from factories.loaded import Loaded, rows, to_be_loaded
from factories.people import person
from factories.raised import raised
from factories.rows import count
from sqlalchemy import select

from iotide_server.accounts.models import Role
from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.clusters.agents.credentials import acl_rows
from iotide_server.kit.db import Database
from iotide_server.published.errors import PUBLISHED_ABSENT, PUBLISHED_NAME_TAKEN
from iotide_server.published.loading import forget_published, load_published
from iotide_server.published.sources import read_edition
from iotide_server.targets.models import Target

EDITION, DIGEST = read_edition()
REFUSED = (409, "cluster_published")


class Library(Loaded):
    """An installation with all published results."""

    def source(self, key: str) -> Any:  # noqa: ANN401 - JSON
        return next(one for one in self.get("/published-sources")["items"] if one["key"] == key)


@pytest.fixture(scope="module")
def library(postgres_server: PrivatePostgres) -> Iterator[Library]:
    with to_be_loaded(postgres_server, "published") as site:
        loaded = load_published(site.database, EDITION, DIGEST, site.clock)
        assert (loaded.sources, loaded.clusters, loaded.runs, loaded.is_new) == (6, 5, 30, True)
        yield Library(**vars(site))


def test_a_published_cluster_is_marked(library: Library) -> None:
    origins = {cluster["name"]: cluster["origin"] for cluster in library.get("/clusters")["items"]}
    assert origins == {"blade": "own", **dict.fromkeys(EDITION.clusters, "published")}


def test_the_table_of_nus_gives_the_ratios_of_its_own_numbers_and_not_the_one_that_was_claimed(
    library: Library,
) -> None:
    claim = library.source("nus-svu-gpfs")["claim"]
    ratios = {one["options"]["file_size_bytes"] // 10**9: round(one["ratio"], 1) for one in claim["ratios"]}
    assert ratios == {4: 4.2, 8: 4.3, 10: 3.6, 20: 4.7}
    assert (claim["ratio"], claim["is_supported"]) == (10, False)
    assert "3.62 to 4.7" in claim["verdict"]
    assert "not supported" in claim["verdict"]


def test_a_figure_of_a_published_campaign_has_every_number_and_part(library: Library) -> None:
    [campaign] = library.source("nus-svu-gpfs")["campaigns"]
    cells = library.get(f"/campaigns/{campaign['campaign_id']}/measurements", metric="duration", limit=500)["items"]
    found = {
        (cell["target_names"][0], cell["options"]["file_size_bytes"], one["labels"]["part"]): one["median"]
        for cell in cells
        for one in cell["measurements"]
    }
    assert len(found) == 48
    assert found["nfs", 20 * 10**9, "wait"] == pytest.approx(2401.14)
    assert found["gpfs", 4 * 10**9, "real"] == pytest.approx(161.46)


def test_each_run_names_its_source_and_that_it_was_not_measured_here(library: Library) -> None:
    for source in library.get("/published-sources")["items"]:
        for campaign in source["campaigns"]:
            runs = library.get("/runs", campaign_id=campaign["campaign_id"])["items"]
            assert len(runs) == campaign["runs"]
            run = library.get(f"/runs/{runs[0]['id']}")
            [flag] = run["flags"]
            assert flag["code"] == "PUBLISHED"
            assert source["place"] in flag["measured"]
            assert (run["state"], run["validity"], run["started_at"]) == ("finished", "valid", None)
            assert run["environment"]["published.source"] == flag["measured"]
            assert run["not_judged"] == [], "it was not judged here"


def test_options_that_were_not_printed_are_not_invented(library: Library) -> None:
    [campaign] = library.source("inaf-tanks-dd")["campaigns"]
    cells = library.get(f"/campaigns/{campaign['campaign_id']}/cells", limit=500)["items"]
    assert all(cell["options"] == {} for cell in cells)


def test_published_results_refuse_every_change(library: Library) -> None:
    cluster_id = library.source("nus-svu-gpfs")["campaigns"][0]["cluster_id"]
    campaign_id = library.source("nus-svu-gpfs")["campaigns"][0]["campaign_id"]
    run_id = library.get("/runs", campaign_id=campaign_id)["items"][0]["id"]
    node_id = library.get("/nodes", cluster_id=cluster_id)["items"][0]["id"]
    with library.database.transaction() as session:
        target_id = session.scalars(select(Target.id).where(Target.cluster_id == cluster_id)).first()
    plan = {
        "name": "mine",
        "cluster": "nus-svu",
        "nodes": ["node"],
        "targets": ["gpfs"],
        "workloads": [{"workload": "dd"}],
    }
    drain = {"reason": "new disks"}
    rule = {"name": "mine", "cluster": "nus-svu"}
    day = {"starts_at": "2999-01-01T00:00:00Z", "ends_at": "2999-01-02T00:00:00Z", "reason": "firmware"}
    for method, path, body in (
        ("PATCH", f"/clusters/{cluster_id}", {"name": "other"}),
        ("PUT", f"/clusters/{cluster_id}/drain", drain),
        ("POST", f"/clusters/{cluster_id}/blackouts", day),
        ("POST", f"/clusters/{cluster_id}/join-tokens", {"uses": 1}),
        ("PATCH", f"/nodes/{node_id}", {"slots": 2}),
        ("DELETE", f"/nodes/{node_id}", None),
        ("PATCH", f"/targets/{target_id}", {"name": "other"}),
        ("DELETE", f"/targets/{target_id}", None),
        ("PUT", f"/targets/{target_id}/drain", drain),
        (
            "POST",
            "/targets",
            {"cluster_id": cluster_id, "name": "mine", "path": "/m", "scope": "shared", "nodes": [node_id]},
        ),
        ("POST", "/campaigns", plan),
        ("POST", "/campaigns/preview", plan),
        ("POST", f"/campaigns/{campaign_id}/cancel", None),
        ("PATCH", f"/campaigns/{campaign_id}", {"priority": 1}),
        ("POST", "/schedules", {"name": "mine", "plan": plan, "cron": "30 2 * * *", "time_zone": "UTC"}),
        ("POST", f"/runs/{run_id}/retry", None),
        ("POST", f"/runs/{run_id}/cancel", None),
        ("POST", "/trend-events", {"cluster": "nus-svu", "text": "new disks", "at": "2026-01-01T00:00:00Z"}),
        ("POST", "/alert-rules", rule),
    ):
        assert library.refusal(method, path, body) == REFUSED, (method, path)


def test_a_published_cluster_accepts_no_agent_and_none_of_its_nodes_is_missed(library: Library) -> None:
    clusters = [one["id"] for one in library.get("/clusters")["items"] if one["origin"] == "published"]
    nodes = [node for one in clusters for node in library.get("/nodes", cluster_id=one)["items"]]
    assert {node["state"] for node in nodes} == {"retired"}
    with library.database.transaction() as session:
        assert not {node["id"] for node in nodes} & {access.node_id for access in acl_rows(session)}


def test_a_viewer_of_one_cluster_sees_published_results_too(library: Library) -> None:
    with library.database.transaction() as session:
        own = next(one["id"] for one in library.get("/clusters")["items"] if one["origin"] == "own")
        grace = person(session, "grace", Role.OPERATOR, own, now=NOW)
    answer = library.client.get("/api/v1/clusters", headers=grace.headers)
    assert {one["name"] for one in answer.json()["items"]} == {"blade", *EDITION.clusters}


def test_nothing_published_waits_for_analysis_and_the_rows_keep_every_rule(library: Library) -> None:
    assert count(library.database, "work") == 0
    assert library.get("/changes", unconfirmed="true")["items"] == []
    with library.database.transaction() as session:
        assert violations(session) == {}


def test_one_s_own_numbers_are_compared_with_published_ones(library: Library) -> None:
    petaltail, greentail = library.source("wesleyan-iozone")["campaigns"]
    compared = library.get("/comparison", a=petaltail["campaign_id"], b=greentail["campaign_id"])
    ratios = [metric for pair in compared["pairs"] for metric in pair["metrics"]]
    assert ratios
    assert all(metric["low"] is None for metric in ratios), "one number gives no interval"


def test_loading_again_changes_nothing(library: Library) -> None:
    before = rows(library.database)
    assert not load_published(library.database, EDITION, DIGEST, MovedClock()).is_new
    assert rows(library.database) == before


def test_another_edition_takes_the_place_of_the_one_before(library: Library) -> None:
    smaller = EDITION.model_copy(update={"sources": EDITION.sources[-1:]})
    loaded = load_published(library.database, smaller, "another", MovedClock())
    assert (loaded.is_new, loaded.had_other, loaded.runs) == (True, True, 1)
    assert [source["key"] for source in library.get("/published-sources")["items"]] == [EDITION.sources[-1].key]


def test_a_cluster_of_the_same_name_is_reported(database: Database) -> None:
    with database.transaction() as session:
        make_cluster(session, "nus-svu")
    with raised(PUBLISHED_NAME_TAKEN, match="nus-svu"):
        load_published(database, EDITION, DIGEST, MovedClock())
    with raised(PUBLISHED_ABSENT):
        forget_published(database, NOW)


def test_forgetting_removes_all_of_it_and_nothing_else(library: Library) -> None:
    assert forget_published(library.database, NOW) > 10
    people = {"user_account", "api_token", "role_grant"}  # other tests add some of those
    left = {table: found for table, found in rows(library.database).items() if table not in people}
    assert left == {table: found for table, found in library.rows_before.items() if table not in people}
