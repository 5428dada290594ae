from collections.abc import Callable

import numpy as np
import pytest
from factories.announced import NOW
from factories.measured import Measured, finish, sample
from factories.people import Person
from fastapi.testclient import TestClient

from iotide_server.accounts.models import Role
from iotide_server.kit.db import Database
from iotide_server.targets.models import Target, TargetMount
from iotide_server.trends.points.service import recompute_points

STRIPE_BYTES_PER_SECOND = 1200e6
"""IRA 470/13, section 2.3: the best write rate of three RAID 5 sets as one LVM stripe."""


def raid_sets(database: Database, *levels: float, runs: int = 6) -> int:
    """Return the cluster of one server with RAID sets measured several times, as shares of the usual rate."""
    random = np.random.default_rng(470)
    with database.transaction() as session:
        measured = Measured(session, NOW)
        for number, level in enumerate(levels, start=1):
            measured.target = Target(
                cluster_id=measured.cluster.id, name=f"raid{number}", path=f"/raid{number}", scope="node"
            )
            session.add(measured.target)
            session.flush()
            session.add(
                TargetMount(
                    target_id=measured.target.id,
                    node_id=measured.node.id,
                    path=measured.target.path,
                    fstype="xfs",
                    source=f"/dev/sd{number}",
                    mount_options="rw",
                    total_bytes=12 * 10**12 + number * 10**9,
                    seen_at=NOW,
                )
            )
            cell = measured.cell()
            for _ in range(runs):
                value = level * STRIPE_BYTES_PER_SECOND / 3 * (1 + 0.02 * random.standard_normal())
                measured.deliver(cell, finish(NOW, sample(value, operation="write")))
            recompute_points(session, cell.id)
        return measured.cluster.id


def test_the_slower_of_three_raid_sets_is_found_by_runs_generated_around_a_third_of_the_published_stripe(
    client: TestClient, admin: Person, database: Database
) -> None:
    cluster_id = raid_sets(database, 1.0, 1.0, 0.77)
    answer = client.get(f"/api/v1/clusters/{cluster_id}/peers", headers=admin.headers).json()
    (group,) = answer["groups"]
    assert (group["kind"], group["alike"], group["metric"]) == ("targets", "xfs of 10.9 TiB, scope node", "write_rate")
    assert [(peer["name"], peer["n"], peer["is_odd"]) for peer in group["members"]] == [
        ("raid3", 6, True),
        ("raid1", 6, False),
        ("raid2", 6, False),
    ]
    odd, *others = group["members"]
    assert [one["difference_ratio"] for one in odd["by_campaign"]] == [pytest.approx(odd["difference_ratio"])]
    assert odd["difference_ratio"] == pytest.approx(-0.23, abs=0.03)
    assert odd["robust_z"] < -group["z_limit"]
    assert odd["words"].startswith("outlier: 2")
    assert odd["words"].endswith("% below the median of 3 peers, worse")
    assert {peer["words"] for peer in others} == {"no significant difference among 3 peers"}
    assert (group["basis"], odd["campaigns"]) == ("own_campaigns", 1)
    assert group["basis_words"] == "measured by campaigns of their own: a difference may come from the day"
    assert (group["has_odd"], group["too_few"], answer["left_out"]) == (True, [], 0)


def test_equal_sets_are_shown_without_an_outlier_and_left_out_if_only_outliers_are_requested(
    client: TestClient, admin: Person, database: Database
) -> None:
    cluster_id = raid_sets(database, 1.0, 1.0, 1.0)
    (group,) = client.get(f"/api/v1/clusters/{cluster_id}/peers", headers=admin.headers).json()["groups"]
    assert group["has_odd"] is False
    for wanted in ({"only_odd": True}, {"kind": "nodes"}, {"metric": "wait"}):
        answer = client.get(f"/api/v1/clusters/{cluster_id}/peers", params=wanted, headers=admin.headers)
        assert answer.json()["groups"] == []


def test_a_group_with_three_runs_each_is_marked_as_not_judged(
    client: TestClient, admin: Person, database: Database
) -> None:
    cluster_id = raid_sets(database, 1.0, 1.0, 0.5, runs=3)
    answer = client.get(f"/api/v1/clusters/{cluster_id}/peers", headers=admin.headers)
    (group,) = answer.json()["groups"]
    assert (group["members"], group["has_odd"]) == ([], False)
    assert group["too_few"] == ["raid1", "raid2", "raid3"]
    assert group["not_judged"] == "not enough data: 0 of 3 have 4 runs, 3 needed"
    odd = client.get(f"/api/v1/clusters/{cluster_id}/peers", params={"only_odd": True}, headers=admin.headers)
    assert odd.json()["groups"] == []


def test_peers_of_a_cluster_that_one_may_not_see_are_not_shown(
    client: TestClient, make_person: Callable[..., Person], database: Database
) -> None:
    cluster_id = raid_sets(database, 1.0)
    stranger = make_person("eve", Role.VIEWER, cluster_id)
    assert client.get(f"/api/v1/clusters/{cluster_id}/peers", headers=stranger.headers).status_code == 200
    answer = client.get(f"/api/v1/clusters/{cluster_id + 1}/peers", headers=stranger.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "cluster_not_found")
