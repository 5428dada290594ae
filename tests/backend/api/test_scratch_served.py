"""A campaign on a scratch set that its node serves by NFS: local runs, and runs on a client that mounts the export."""

from dataclasses import replace
from typing import Any

import pytest
from backend.api.test_scratch_story import (
    PLAN,
    SET,
    announce,
    finish_next,
    look,
    nothing_starts,
    story,
    workloads_with_maker,
)
from factories.agent_story import API, Story
from factories.announced import hello, mount

from iotide_agent.workloads.scratch import ScratchOptions

__all__ = ["story"]
PATH = "/mnt/bays"
COPY: dict[str, Any] = {"workload": "copy", "options": {"file_size_bytes": "1 MiB"}}
LOCAL = COPY | {"nodes": ["n1"], "targets": ["n1/bays"]}
SERVED = COPY | {"nodes": ["n2"], "targets": ["bays-nfs"]}
BOTH: dict[str, Any] = {
    "nodes": ["n1", "n2"],
    "targets": ["n1/bays", "bays-nfs"],
    "workloads": [LOCAL, SERVED],
    "exclusive": "cluster",
    "scratch": PLAN["scratch"] | {"filesystems": ["ext4"], "serves": "nfs"},
}


@pytest.fixture
def client_node(story: Story) -> Story:
    """Return the same story with the agent of a second node, n2, and with the target of the export."""
    (cluster,) = story.person("GET", "/clusters")["items"]
    token = story.person("POST", f"/clusters/{cluster['id']}/join-tokens", json={"uses": 1, "expires_in_seconds": 60})
    body = {"join_token": token["token"], "node_name": "n2", "role": "compute", "agent_version": "1", "wire_version": 1}
    identity = story.client.post(f"{API}/agent/enroll", json=body).json()
    joined = replace(story, node_headers={"Authorization": f"Bearer {identity['node_token']}"})
    announce_client(joined, None)
    target = {"cluster_id": cluster["id"], "name": "bays-nfs", "path": PATH, "scope": "shared"}
    story.person("POST", "/targets", json={**target, "nodes": [identity["node_id"]], "reserve_bytes": None})
    return joined


def announce_client(client_node: Story, source: str | None, look: int | None = None) -> None:
    mounted = [] if source is None else [mount(PATH, "nfs4", source)]
    said = hello("instance-n1", mounts=(mount("/", "ext4", "/dev/sda1"), *mounted), approved=(PATH,)).model_copy(
        update={"workloads": workloads_with_maker(), "look": look}
    )
    assert client_node.agent("/hello", said.model_dump(mode="json")).status_code == 200


def look_at_both(story: Story, client_node: Story, source: str | None) -> None:
    """Answer the server's requests for the facts of both nodes."""
    assert nothing_starts(story)
    story.clock.move(1)
    body = {"agent_instance": "instance-n1", "boot_id": hello().boot_id, "sent_at": story.clock().isoformat()}
    announce(story, "ext4", story.agent("/beat", body | {"orders": []}).json()["look"])
    assert nothing_starts(story), "the client has not reported its mount"
    asked = client_node.agent("/beat", body | {"orders": []}).json()["look"]
    assert asked is not None
    announce_client(client_node, source, asked)


def submitted(story: Story, **changes: object) -> int:
    run = story.submit(**BOTH | changes)
    return int(story.person("GET", f"/runs/{run}")["campaign_id"])


def test_a_made_file_system_is_exported_mounted_on_the_client_and_measured_on_both(
    story: Story, client_node: Story
) -> None:
    campaign = submitted(story)
    made = ScratchOptions.model_validate(finish_next(story)["options"])
    assert (made.verb, made.clients) == ("make", ("n2",))
    order = finish_next(client_node)
    mounted = ScratchOptions.model_validate(order["options"])
    assert (order["step_role"], order["targets"]) == ("maker", [])
    assert (mounted.verb, mounted.paths, mounted.make) == ("mount", (PATH,), None)
    look_at_both(story, client_node, f"n1:{SET}")
    assert finish_next(story)["targets"][0]["fstype"] == "ext4"
    (target,) = finish_next(client_node)["targets"]
    assert (target["path"], target["fstype"], target["source"]) == (PATH, "nfs4", f"n1:{SET}")
    assert finish_next(story)["options"]["verb"] == "clean"
    shown = story.person("GET", f"/campaigns/{campaign}")
    assert [stage["does"] for stage in shown["stages"]] == ["make", "mount", "measure", "clean"]
    assert shown["state"] == "finished"


@pytest.mark.parametrize("source", [None, "n1:/srv/other", "/dev/sdb1"])
def test_nothing_is_measured_unless_the_client_mounted_the_export_of_the_set(
    story: Story, client_node: Story, source: str | None
) -> None:
    campaign = submitted(story)
    finish_next(story)
    finish_next(client_node)
    look_at_both(story, client_node, source)
    assert finish_next(story)["options"]["verb"] == "clean"
    left = [run for run in story.person("GET", f"/runs?campaign_id={campaign}")["items"] if run["reason"]]
    assert [run["reason_code"] for run in left] == ["scratch_not_made"] * 2
    assert left[0]["reason"].startswith(f"{PATH} of n2 holds ")
    assert f"mount n1:{SET} there" not in left[0]["reason"]


def test_a_client_that_cannot_mount_cancels_the_measurements(story: Story, client_node: Story) -> None:
    campaign = submitted(story, attempts_allowed=1)
    finish_next(story)
    finish_next(client_node, outcome="failed", reason_code="command_failed", reason="remount ended with status 32")
    assert finish_next(story)["options"]["verb"] == "clean"
    stages = story.person("GET", f"/campaigns/{campaign}")["stages"]
    assert [(stage["does"], stage["run_state"], stage["cancelled"]) for stage in stages] == [
        ("make", "finished", 0),
        ("mount", "failed", 0),
        ("measure", None, 2),
        ("clean", "finished", 0),
    ]


def test_a_failed_make_is_not_mounted(story: Story, client_node: Story) -> None:
    campaign = submitted(story, attempts_allowed=1)
    finish_next(story, outcome="failed", reason_code="command_failed", reason="exportfs is not installed")
    assert finish_next(story)["options"]["verb"] == "clean"
    stages = story.person("GET", f"/campaigns/{campaign}")["stages"]
    assert [stage["cancelled"] for stage in stages] == [0, 1, 2, 0]
    assert client_node.node_headers != story.node_headers


def test_a_fill_comes_before_the_mount_on_clients(story: Story, client_node: Story) -> None:
    campaign = submitted(story, scratch=BOTH["scratch"] | {"fill": "80 %"})
    finish_next(story)
    look(story, "ext4")
    assert finish_next(story)["workload"] == "fill"
    assert finish_next(client_node)["options"]["verb"] == "mount"
    stages = story.person("GET", f"/campaigns/{campaign}")["stages"]
    assert [stage["does"] for stage in stages] == ["make", "fill", "mount", "measure", "clean"]


def test_the_preview_names_the_clients(story: Story, client_node: Story) -> None:
    assert client_node.node_headers
    plan = {"name": "served", "cluster": "blade", "repeats": 1, **BOTH}
    assert story.person("POST", "/campaigns/preview", json=plan)["scratch"]["clients"] == ["n2"]


def test_the_preview_counts_fills_for_the_set_that_no_run_of_the_server_loads(story: Story, client_node: Story) -> None:
    assert client_node.node_headers
    scratch = BOTH["scratch"] | {"fill": "80 %"}
    plan = {"name": "served", "cluster": "blade", "repeats": 1, **BOTH, "scratch": scratch}
    plan |= {"nodes": ["n2"], "targets": ["bays-nfs"], "workloads": [SERVED]}
    shown = story.person("POST", "/campaigns/preview", json=plan)
    filled_bytes = shown["scratch"]["bytes_filled"]
    assert filled_bytes > 0
    wear = {row["target_name"]: row["bytes_least"] for row in shown["wear"]}
    assert wear.keys() == {"bays-nfs", "n1-bays"}
    assert wear["n1-bays"] == filled_bytes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"nodes": ["n1"], "targets": ["n1/bays"], "workloads": [LOCAL]}, "no workload loads a target other than"),
        ({"exclusive": "node"}, "would load the same disks at once; set exclusive: cluster"),
    ],
)
def test_an_export_without_clients_or_with_overlapping_runs_is_rejected(
    story: Story, client_node: Story, changes: dict[str, Any], words: str
) -> None:
    assert client_node.node_headers
    plan = {"name": "served", "cluster": "blade", "repeats": 1, **BOTH, **changes}
    for path in ("/campaigns", "/campaigns/preview"):
        error = story.client.post(f"{API}{path}", json=plan, headers=story.admin.headers).json()["error"]
        assert (error["code"], error["field"]) == ("scratch_serves", "scratch.serves")
        assert words in error["message"] + "; " + error["remedy"]


def test_clients_alone_need_not_have_the_cluster(story: Story, client_node: Story) -> None:
    alone = {"nodes": ["n2"], "targets": ["bays-nfs"], "workloads": [SERVED], "exclusive": "node"}
    submitted(story, **alone)
    assert finish_next(story)["options"]["clients"] == ["n2"]
    assert finish_next(client_node)["options"]["verb"] == "mount"


def test_a_client_without_a_remount_command_is_named_at_submission(story: Story, client_node: Story) -> None:
    said = hello("instance-n1", mounts=(mount("/", "ext4", "/dev/sda1"),), approved=(PATH,))
    without = said.model_copy(update={"workloads": workloads_with_maker()[:1]})
    assert client_node.agent("/hello", without.model_dump(mode="json")).status_code == 200
    plan = {"name": "served", "cluster": "blade", "repeats": 1, **BOTH}
    error = story.client.post(f"{API}/campaigns", json=plan, headers=story.admin.headers).json()["error"]
    assert (error["field"], error["message"]) == ("scratch.serves", "scratch.serves: scratch cannot run on n2")
    assert error["remedy"].startswith("set remount_command in agent.toml")
