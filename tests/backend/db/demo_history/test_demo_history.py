"""A small history, loaded once for all of these tests, next to a user's own cluster."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from factories.announced import NOW
from factories.clock import MovedClock
from factories.clusters import make_cluster
from factories.known_truth import score
from factories.loaded import Loaded, rows, to_be_loaded
from factories.raised import raised
from factories.rows import count
from factories.shown_flags import shown_flags
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from iotide_server.bundled.postgres import PrivatePostgres
from iotide_server.campaigns.models import CellTarget
from iotide_server.clusters.agents.credentials import acl_rows
from iotide_server.clusters.models import Cluster, Node
from iotide_server.clusters.views import Origin
from iotide_server.demo_history.errors import (
    DEMO_HISTORY_ABSENT,
    DEMO_HISTORY_LOADED,
    DEMO_HISTORY_NAME_TAKEN,
    DEMO_HISTORY_TOO_SHORT,
    DEMO_HISTORY_UNKNOWN_NAME,
)
from iotide_server.demo_history.forgetting import forget_history
from iotide_server.demo_history.founding import require_room
from iotide_server.demo_history.loading import HistoryPlan, load_history
from iotide_server.demo_history.sites import SITES, narrowed
from iotide_server.kit.db import Base, Database
from iotide_server.runs.models import Run
from iotide_server.targets.models import Target
from iotide_wire.measured import FlagCode
from iotide_wire.units import GIB

pytestmark = pytest.mark.timeout(1200)  # loads months of campaigns, on a machine that may be busy

ARCHIVE = SITES[2]
MATRICES = narrowed(["demo-studio"], ["iozone"])
PLAN = HistoryPlan(seed=1, days=60, sites=(ARCHIVE, *MATRICES))


@dataclass(frozen=True)
class History(Loaded):
    """An installation with a loaded history.

    Attributes:
        began_at: its first day.
    """

    began_at: datetime

    @property
    def cluster(self) -> dict[str, Any]:
        clusters: list[dict[str, Any]] = self.get("/clusters")["items"]
        return next(cluster for cluster in clusters if cluster["name"] == ARCHIVE.name)


@pytest.fixture(scope="module")
def history(postgres_server: PrivatePostgres) -> Iterator[History]:
    with to_be_loaded(postgres_server, "demo_history") as site:
        yield History(**vars(site), began_at=load_history(site.database, PLAN, site.clock).began_at)


def test_only_a_cluster_of_sample_data_is_marked(history: History) -> None:
    origins = {cluster["name"]: cluster["origin"] for cluster in history.get("/clusters")["items"]}
    assert origins == {"demo-archive": "made_up", "demo-studio": "made_up", "blade": "own"}
    assert "--seed 1: nothing was measured" in history.cluster["description"]


def test_exactly_the_known_changes_are_found_with_their_size(history: History) -> None:
    with history.database.transaction() as session:
        judged = score(session, PLAN.sites, history.began_at, PLAN.days)
    assert (judged.missed, judged.unknown) == ([], [])
    assert {known.operation for known, _ in judged.found} == {"read", "write"}
    assert all(found.ratio == pytest.approx(known.ratio, rel=0.05) for known, found in judged.found)


def test_an_ordinary_run_shows_no_flag_that_its_series_usually_has(history: History) -> None:
    with history.database.transaction() as session:
        shown_median, _ = shown_flags(session)
    assert shown_median <= 0.2


def test_an_event_that_runs_saw_is_linked_to_the_change_that_came_with_it(history: History) -> None:
    series = history.get("/series", cluster_id=history.cluster["id"], limit=500)["items"]
    reads = next(one for one in series if one["labels"].get("operation") == "read")
    analysis = history.get(f"/series/{reads['id']}/analysis")
    [effect] = [event for event in analysis["events"] if "gpfs.version" in event["event"]["text"]]
    assert effect["event"]["text"] == "gpfs.version: 5.1.8.2 -> 5.1.9.4"
    assert (effect["effect"], effect["shift_ratio"]) == ("shifted", pytest.approx(0.3, abs=0.05))


def test_the_newest_runs_of_the_slower_raid_set_are_marked_and_no_others(history: History) -> None:
    is_marked = Run.flags.contains([{"code": FlagCode.PEER_ODD}])
    targets = select(Target.name, func.count()).join(CellTarget, CellTarget.target_id == Target.id)
    with history.database.transaction() as session:
        marked = targets.join(Run, Run.cell_id == CellTarget.cell_id).where(is_marked).group_by(Target.name)
        [(name, runs)] = session.execute(marked).all()
    assert name == "raid-b"
    assert runs >= 4


def test_the_matrix_of_a_local_disk_falls_behind_the_memory_and_that_of_the_filer_does_not(history: History) -> None:
    sources = {one["target_names"][0]: one for one in history.get("/surface-sources")["items"]}
    assert {target: len(one["run_ids"]) for target, one in sources.items()} == {"projects": 4, "cache": 4}
    a, b = sources["projects"]["source"], sources["cache"]["source"]
    surface = history.get("/surface", a=a, b=b, operation="read")
    assert surface["file_sizes_bytes"] == [size * GIB for size in (16, 32, 64, 128, 256)]
    assert (len(surface["record_sizes_bytes"]), surface["a"]["cliffs"]) == (7, [])
    [cliff] = surface["b"]["cliffs"]
    assert (cliff["last_bytes"], cliff["first_bytes"]) == (64 * GIB, 128 * GIB)
    assert cliff["suits"] == ["memory.total_bytes of r3 (128 GiB)"]
    medians = [cell["median"] for row in surface["a"]["cells"] for cell in row]
    assert len(set(medians)) == len(medians), "each size has a noise of its own"


def test_no_worker_repeats_what_was_done_and_no_update_floods_browsers(history: History) -> None:
    with history.database.transaction() as session:
        work = Base.metadata.tables["work"]
        due = select(work.c.kind).where(work.c.done_version < work.c.version).distinct()
        assert set(session.scalars(due)) <= {"alerts"}
    assert count(history.database, "change") < 10


def test_a_second_history_is_refused_and_changes_nothing(history: History) -> None:
    before = rows(history.database)
    with raised(DEMO_HISTORY_LOADED) as refused:
        load_history(history.database, PLAN, MovedClock())
    assert "forget-demo-history" in str(refused.value.remedy)
    assert rows(history.database) == before


def test_nothing_runs_on_sample_data(history: History) -> None:
    cluster_id = history.cluster["id"]
    plan = {
        "name": "mine",
        "cluster": ARCHIVE.name,
        "nodes": ["g1"],
        "targets": ["gpfs"],
        "workloads": [{"workload": "dd"}],
    }
    schedule = next(one for one in history.get("/schedules")["items"] if one["cluster_id"] == cluster_id)
    with history.database.transaction() as session:
        run_id = session.scalars(select(Run.id).limit(1)).one()
    nightly = {"name": "mine", "plan": plan, "cron": "30 2 * * *", "time_zone": "UTC"}
    refused = (409, "cluster_made_up")
    assert history.refusal("POST", "/campaigns", plan) == refused
    assert history.refusal("POST", "/campaigns/preview", plan) == refused
    assert history.refusal("POST", "/schedules", nightly) == refused
    assert schedule["state"] == "paused"
    assert history.refusal("POST", f"/schedules/{schedule['id']}/resume") == refused
    assert history.refusal("POST", f"/schedules/{schedule['id']}/run") == refused
    assert history.refusal("POST", f"/runs/{run_id}/retry") == refused


def test_a_cluster_of_sample_data_accepts_no_agent(history: History) -> None:
    tokens = f"/clusters/{history.cluster['id']}/join-tokens"
    assert history.refusal("POST", tokens, {"uses": 1}) == (409, "cluster_made_up")
    with history.database.transaction() as session:
        sample_nodes = session.scalars(select(Node).join(Cluster).where(Cluster.origin == Origin.SAMPLE_DATA)).all()
        assert not {node.id for node in sample_nodes} & {access.node_id for access in acl_rows(session)}
    # The server finds a token by its SHA-256 in hexadecimal digits; these are none.
    assert all(node.token_sha256.startswith("made-up-") for node in sample_nodes)


def test_a_node_of_sample_data_is_neither_silent_nor_online(history: History) -> None:
    cluster_id = history.cluster["id"]
    lines = history.get(f"/clusters/{cluster_id}/nodes")["items"]
    assert {line["state"] for line in lines} == {"sample_data"}
    assert {node["state"] for node in history.get("/nodes", cluster_id=cluster_id)["items"]} == {"sample_data"}
    shown = {
        state: len(history.get("/nodes", state=state)["items"]) for state in ("sample_data", "silent", "never_seen")
    }
    assert shown == {"sample_data": 5, "silent": 0, "never_seen": 0}
    board = {cluster["name"]: cluster["nodes"] for cluster in history.get("/board")["clusters"]}
    assert [board[ARCHIVE.name][state] for state in ("online", "silent", "never_seen")] == [0, 0, 0]


def test_forgetting_removes_all_of_it_and_nothing_else(history: History) -> None:
    assert forget_history(history.database, NOW) > 1000
    assert rows(history.database) == history.rows_before
    with raised(DEMO_HISTORY_ABSENT):
        forget_history(history.database, NOW)


def test_a_cluster_of_the_same_name_is_reported(session: Session) -> None:
    make_cluster(session, ARCHIVE.name)
    with raised(DEMO_HISTORY_NAME_TAKEN, match="demo-archive"):
        require_room(session, SITES)


def test_a_history_of_an_unknown_cluster_is_refused() -> None:
    with raised(DEMO_HISTORY_UNKNOWN_NAME, match="the sample data has no cluster demo-hpcc") as refused:
        narrowed(["demo-hpcc"])
    assert "demo-hpc" in str(refused.value.remedy)
    with raised(DEMO_HISTORY_UNKNOWN_NAME, match="the sample data has no workload mdtest"):
        narrowed(["demo-studio"], ["mdtest"])


def test_a_narrowed_history_has_only_what_is_wanted() -> None:
    [studio] = narrowed(["demo-studio"], ["dd"])
    assert [(routine.name, len(routine.loads)) for routine in studio.routines] == [("nightly", 2)]
    assert narrowed() == SITES


def test_a_history_in_which_nothing_could_be_seen_is_refused(database: Database) -> None:
    with raised(DEMO_HISTORY_TOO_SHORT, match="29 days"):
        load_history(database, HistoryPlan(seed=1, days=29), MovedClock())
