"""A campaign on a scratch set over HTTP: makes, measurements on what was made, and the cleaning."""

from datetime import timedelta
from typing import Any

import pytest
from factories.agent_story import API, Story, begin_story
from factories.announced import hello, mount, workload
from factories.clock import MovedClock
from factories.people import Person
from factories.ready_cluster import announced
from factories.scratch_sets import scratch_set
from fastapi.testclient import TestClient
from sqlalchemy import select

from iotide_agent.workloads.fill import FillOptions
from iotide_agent.workloads.registry import announced_preparing
from iotide_agent.workloads.scratch import ScratchOptions
from iotide_server.accounts.models import AuditEntry
from iotide_server.kit.db import Database
from iotide_server.scheduling.queues import NodeQueues
from iotide_server.scheduling.starting import start_runs
from iotide_server.scratch import service as sets
from iotide_server.scratch.schemas import EnableInput
from iotide_wire.catalogue import WorkloadAnnouncement
from iotide_wire.scratch_sets import ScratchState
from iotide_wire.units import MIB

SET = "/srv/iotide-scratch/bays"
PLAN: dict[str, Any] = {
    "targets": ["n1/bays"],
    "scratch": {"node": "n1", "set": "bays", "layouts": ["single"], "filesystems": ["ext4", "xfs"], "rounds": 1},
}


FILL = next(one for one in announced(()) if one.name == "fill")


def workloads_with_maker() -> tuple[WorkloadAnnouncement, ...]:
    return workload("copy"), FILL, announced_preparing()


def announce(story: Story, fstype: str | None = None, look: int | None = None) -> None:
    """Say hello with the set, and with its file system if there is one."""
    made = [] if fstype is None else [mount(SET, fstype=fstype, source=f"/dev/{fstype}")]
    state = ScratchState.CLEAN if fstype is None else ScratchState.IN_USE
    said = hello("instance-n1").model_copy(
        update={
            "workloads": workloads_with_maker(),
            "scratch_sets": (scratch_set(state=state),),
            "mounts": (*hello().mounts, *made),
            "approved_directories": (*hello().approved_directories, *(SET for _ in made)),
            "look": look,
        }
    )
    assert story.agent("/hello", said.model_dump(mode="json")).status_code == 200


@pytest.fixture
def story(client: TestClient, database: Database, clock: MovedClock, admin: Person) -> Story:
    begun = begin_story(client, database, clock, admin)
    announce(begun)
    (found,) = begun.person("GET", "/scratch-sets")["items"]
    allowed = EnableInput(name="bays", disks_sha256=found["disks_sha256"], target_name="n1-bays", allows_tokens=True)
    with database.transaction() as session:
        sets.enable(session, admin.principal, found["id"], allowed, clock())
    return begun


def nothing_starts(story: Story) -> bool:
    return not any(start_runs(story.database, NodeQueues(), story.clock()))


def finish_next(story: Story, **changes: object) -> dict[str, Any]:
    """Claim the next order and end it; return it."""
    order_id, fence = story.offer()
    order: dict[str, Any] = story.claim(order_id, fence).json()
    for state in ("ready", "running"):
        story.heartbeat(order_id, fence, state)
    story.clock.move(1)
    assert story.agent(f"/orders/{order_id}/finish", story.result(fence, **changes)).json()["accepted"]
    return order


def look(story: Story, fstype: str | None) -> None:
    """Answer the server's request for facts with the file system that is mounted now."""
    assert nothing_starts(story)
    story.clock.move(1)
    body = {"agent_instance": "instance-n1", "boot_id": hello().boot_id, "sent_at": story.clock().isoformat()}
    asked = story.agent("/beat", body | {"orders": []}).json()["look"]
    assert asked is not None
    announce(story, fstype, asked)


def states(story: Story, campaign: int) -> list[str]:
    return [run["state"] for run in reversed(story.person("GET", f"/runs?campaign_id={campaign}")["items"])]


def campaign_of(story: Story, **changes: object) -> int:
    run = story.submit(**PLAN | changes)
    return int(story.person("GET", f"/runs/{run}")["campaign_id"])


def test_each_stage_is_made_then_measured_and_the_set_is_cleaned_at_the_end(story: Story) -> None:
    campaign = campaign_of(story)
    for fstype in ("ext4", "xfs"):
        made = finish_next(story)
        assert (made["workload"], made["step_role"], made["targets"]) == ("scratch", "maker", [])
        options = ScratchOptions.model_validate(made["options"])
        assert options.make is not None
        assert (options.set, options.verb, options.make.fs.type) == ("bays", "make", fstype)
        look(story, fstype)
        measured = finish_next(story)
        assert (measured["workload"], [target["fstype"] for target in measured["targets"]]) == ("copy", [fstype])
    assert finish_next(story)["options"]["verb"] == "clean"
    assert set(states(story, campaign)) == {"finished"}
    shown = story.person("GET", f"/campaigns/{campaign}")
    assert shown["state"] == "finished"
    assert [(stage["does"], stage["variant"]) for stage in shown["stages"]] == [
        ("make", "single / ext4 / default / defaults"),
        ("measure", "single / ext4 / default / defaults"),
        ("make", "single / xfs / default / defaults"),
        ("measure", "single / xfs / default / defaults"),
        ("clean", "clean"),
    ]
    runs = {run["id"]: run for run in story.person("GET", f"/runs?campaign_id={campaign}")["items"]}
    by_stage = [(stage["does"], stage["run_state"], runs.get(stage["run_id"], {})) for stage in shown["stages"]]
    assert [(does, state, run.get("workload")) for does, state, run in by_stage] == [
        *[("make", "finished", "scratch"), ("measure", None, None)] * 2,
        ("clean", "finished", "scratch"),
    ]
    assert {state: count for state, count in shown["counts"].items() if count} == {"finished": 2}
    assert [(one["does"], one["finished"], one["waiting"]) for one in shown["preparations"]] == [
        ("make", 2, 0),
        ("clean", 1, 0),
    ]
    (listed,) = story.person("GET", "/campaigns")["items"]
    assert (listed["counts"], listed["preparations"]) == (shown["counts"], shown["preparations"])
    assert story.person("GET", f"/campaigns/{campaign}/conduct")["runs"] == 2


def test_a_preview_takes_the_time_of_earlier_makes_and_names_those_without(story: Story) -> None:
    body: dict[str, Any] = {"name": "nightly", "cluster": "blade", "nodes": ["n1"], **PLAN}
    body["workloads"] = [{"workload": "copy", "options": {"file_size_bytes": "1 MiB"}}]
    body["scratch"] = PLAN["scratch"] | {"filesystems": ["ext4", "xfs"]}

    def previewed() -> tuple[list[tuple[bool, bool]], str]:
        shown = story.person("POST", "/campaigns/preview", json=body)
        times = [(one["make_seconds_estimated"] is not None, one["is_measured"]) for one in shown["scratch"]["stages"]]
        codes = {one["code"]: one["message"] for one in shown["warnings"]}
        return times, codes.get("makes_not_estimated", "")

    times, words = previewed()
    assert times == [(False, False), (True, False)]
    assert words.startswith("the time leaves out 1 of 2 makes: how fast the disks of n1/bays write is unknown")
    campaign_of(story, scratch=PLAN["scratch"] | {"filesystems": ["ext4"]})
    finish_next(story, started_at=(story.clock() - timedelta(seconds=59)).isoformat())
    times, words = previewed()
    assert (times, words) == ([(True, True), (True, False)], "")
    shown = story.person("POST", "/campaigns/preview", json=body)["scratch"]["stages"]
    assert shown[0]["make_seconds_estimated"] == pytest.approx(60, abs=1)


def test_a_failed_cleaning_is_tried_again_unless_another_campaign_has_the_set(story: Story) -> None:
    plan = {"scratch": PLAN["scratch"] | {"filesystems": ["ext4"]}, "attempts_allowed": 1}
    campaign_of(story, **plan)
    finish_next(story)
    look(story, "ext4")
    finish_next(story)
    finish_next(story, outcome="failed", reason_code="command_failed", reason="stays mounted")
    (found,) = story.person("GET", "/scratch-sets")["items"]
    cleaning = found["failed_cleaning_run_id"]
    assert story.person("GET", f"/runs/{cleaning}")["state"] == "failed"
    second = campaign_of(story, **plan, name="second")
    assert finish_next(story)["campaign"] == "second"
    answer = story.client.post(f"{API}/runs/{cleaning}/retry", headers=story.admin.headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "scratch_set_taken")
    assert answer.json()["error"]["message"] == f"campaign {second} uses scratch set bays now"
    story.person("POST", f"/campaigns/{second}/cancel")
    finish_next(story)
    assert nothing_starts(story)
    story.person("POST", f"/runs/{cleaning}/retry")
    assert finish_next(story)["options"]["verb"] == "clean"
    assert story.person("GET", f"/runs/{cleaning}")["state"] == "finished"


def test_a_make_has_a_run_page_and_is_no_configuration_of_the_matrix(story: Story) -> None:
    campaign = campaign_of(story)
    finish_next(story)
    shown = story.person("GET", f"/campaigns/{campaign}")
    run = story.person("GET", f"/runs/{shown['stages'][0]['run_id']}")
    assert [order["step_role"] for order in run["attempts"][0]["orders"]] == ["maker"]
    cells = story.person("GET", f"/campaigns/{campaign}/cells")["items"]
    assert [cell["workload"] for cell in cells] == ["copy", "copy"]


def test_a_stage_is_filled_between_its_make_and_its_runs(story: Story) -> None:
    scratch = PLAN["scratch"] | {"filesystems": ["ext4"], "fill": "80 %", "precondition": "fill"}
    campaign = campaign_of(story, scratch=scratch)
    finish_next(story)
    whole = {
        "metric": "used_ratio",
        "value": 0.8,
        "labels": {},
        "target_id": story.person("GET", "/scratch-sets")["items"][0]["target"]["id"],
    }
    for percent, keeps in ((85.0, False), (80.0, True)):
        look(story, "ext4")
        filled = finish_next(story, samples=[whole])
        assert (filled["workload"], [target["path"] for target in filled["targets"]]) == ("fill", [SET])
        options = FillOptions.model_validate(filled["options"])
        assert (options.fill_percent, options.keep, options.data) == (percent, keeps, "random")
        assert options.file_size_bytes == 3072 * MIB
    look(story, "ext4")
    assert finish_next(story)["workload"] == "copy"
    assert finish_next(story)["options"]["verb"] == "clean"
    assert set(states(story, campaign)) == {"finished"}
    stages = story.person("GET", f"/campaigns/{campaign}")["stages"]
    variant = "single / ext4 / default / defaults / fill 80 %"
    assert [(stage["does"], stage["variant"]) for stage in stages] == [
        *((does, variant) for does in ("make", "fill", "fill", "measure")),
        ("clean", "clean"),
    ]
    (cell,) = story.person("GET", f"/campaigns/{campaign}/cells")["items"]
    assert cell["workload"] == "copy"
    facts = story.person("GET", f"/runs/{cell['runs'][0]}")["environment"]
    assert {name: value for name, value in facts.items() if name.startswith("scratch.")} == {
        "scratch.layout": "single",
        "scratch.fill_ratio": 0.8,
        "scratch.precondition": "fill",
    }
    prepared = story.person("GET", f"/runs/{stages[2]['run_id']}")
    assert prepared["samples"] == []
    assert "scratch.fill_ratio" not in prepared["environment"]


def test_a_failed_fill_cancels_the_runs_of_its_stage_and_names_itself(story: Story) -> None:
    campaign = campaign_of(story, scratch=PLAN["scratch"] | {"filesystems": ["ext4"], "fill": "80 %"})
    finish_next(story)
    look(story, "ext4")
    finish_next(story, outcome="failed", reason_code="command_failed", reason="dd: No space left on device")
    assert finish_next(story)["options"]["verb"] == "clean"
    (left,) = [
        run for run in story.person("GET", f"/runs?campaign_id={campaign}")["items"] if run["state"] == "cancelled"
    ]
    stages = story.person("GET", f"/campaigns/{campaign}")["stages"]
    assert left["reason_code"] == "scratch_not_made"
    assert f"run {stages[1]['run_id']} did not fill the file system" in left["reason"]


def test_a_failed_make_is_named_by_the_runs_behind_its_fill(story: Story) -> None:
    campaign = campaign_of(story, scratch=PLAN["scratch"] | {"filesystems": ["ext4"], "fill": "80 %"})
    finish_next(story, outcome="failed", reason_code="command_failed", reason="mkfs.ext4 ended with status 1")
    finish_next(story)
    make = story.person("GET", f"/campaigns/{campaign}")["stages"][0]["run_id"]
    runs = story.person("GET", f"/runs?campaign_id={campaign}")["items"]
    cancelled = [run["reason"] for run in runs if run["reason_code"] == "scratch_not_made"]
    assert len(cancelled) == 2
    assert all(f"run {make} did not make the file system" in reason for reason in cancelled)


def test_makes_and_the_cleaning_are_audited_with_who_submitted_the_campaign(story: Story) -> None:
    campaign = campaign_of(story, scratch=PLAN["scratch"] | {"filesystems": ["ext4"]}, attempts_allowed=1)
    artefact = {"name": "1-make.stdout", "sha256": "ab" * 32, "size_bytes": 100}
    finish_next(story, outcome="failed", reason_code="command_failed", reason="mkfs failed", artefacts=[artefact])
    finish_next(story)
    with story.database.transaction() as session:
        wanted = select(AuditEntry).where(AuditEntry.subject_kind == "scratch_set").order_by(AuditEntry.id)
        _, made, wiped = session.scalars(wanted).all()
    assert [entry.action for entry in (made, wiped)] == ["scratch_made", "scratch_wiped"]
    assert {entry.principal_name for entry in (made, wiped)} == {"ada (token test)"}
    ids = {stage["does"]: stage["run_id"] for stage in story.person("GET", f"/campaigns/{campaign}")["stages"]}
    assert made.after == {
        "name": "bays",
        "disks": [
            {"id": one.id, "serial": one.serial, "wwn": one.wwn, "size_bytes": one.size_bytes}
            for one in scratch_set().disks
        ],
        "campaign_id": campaign,
        "run_id": ids["make"],
        "outcome": "failed",
        "commands_sha256": "ab" * 32,
        "variant": "single / ext4 / default / defaults",
    }
    assert wiped.after is not None
    assert (wiped.after["run_id"], wiped.after["outcome"], "variant" in wiped.after) == (
        ids["clean"],
        "finished",
        False,
    )


def test_a_set_is_not_disabled_before_the_campaign_that_uses_it_has_cleaned_it(story: Story) -> None:
    (found,) = story.person("GET", "/scratch-sets")["items"]
    address = f"{API}/scratch-sets/{found['id']}/disable"

    def refusal() -> str:
        answer = story.client.post(address, headers=story.admin.headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "scratch_set_busy")
        return str(answer.json()["error"]["message"])

    campaign = campaign_of(story, scratch=PLAN["scratch"] | {"filesystems": ["ext4"]})
    assert f"campaign {campaign}, nightly, uses scratch set bays; runs that have not ended: 3" in refusal()
    finish_next(story)
    story.person("POST", f"/campaigns/{campaign}/cancel")
    assert "runs that have not ended: 1" in refusal()
    assert finish_next(story)["options"]["verb"] == "clean"
    assert story.person("POST", f"/scratch-sets/{found['id']}/disable")["permission"] == "disabled"


def test_no_one_can_choose_the_workload_that_makes_file_systems(story: Story) -> None:
    assert [item["name"] for item in story.person("GET", "/workloads")["items"]] == ["fill", "copy"]
    plan = {"name": "own", "cluster": "blade", "nodes": ["n1"], "targets": ["n1-bays"]}
    chosen = {"workloads": [{"workload": "scratch", "options": {"set": "bays", "verb": "clean"}}]}
    answer = story.client.post(f"{API}/campaigns", json=plan | chosen, headers=story.admin.headers)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "workload_only_prepares")
    assert error["field"] == "workloads[0].workload"


def test_a_failed_make_cancels_its_measurements_only(story: Story) -> None:
    campaign = campaign_of(story, attempts_allowed=1)
    finish_next(story, outcome="failed", reason_code="command_failed", reason="mkfs.ext4 ended with status 1")
    assert finish_next(story)["options"]["make"]["fs"]["type"] == "xfs"
    look(story, "xfs")
    finish_next(story)
    finish_next(story)
    runs = story.person("GET", f"/runs?campaign_id={campaign}")["items"]
    assert sorted((run["state"], run["reason_code"]) for run in runs if run["state"] != "finished") == [
        ("cancelled", "scratch_not_made"),
        ("failed", "command_failed"),
    ]
    stages = story.person("GET", f"/campaigns/{campaign}")["stages"]
    assert [(stage["run_state"], stage["cancelled"]) for stage in stages[:2]] == [("failed", 0), (None, 1)]


def test_a_make_that_left_nothing_mounted_is_not_measured(story: Story) -> None:
    campaign = campaign_of(story, scratch=PLAN["scratch"] | {"filesystems": ["ext4"]})
    finish_next(story)
    look(story, None)
    assert finish_next(story)["options"]["verb"] == "clean"
    (left,) = [run for run in story.person("GET", f"/runs?campaign_id={campaign}")["items"] if run["reason"]]
    assert left["reason_code"] == "scratch_not_made"
    assert SET in left["reason"]


def test_cancelling_leaves_the_cleaning_once_something_was_made(story: Story) -> None:
    campaign = campaign_of(story)
    finish_next(story)
    story.person("POST", f"/campaigns/{campaign}/cancel")
    assert finish_next(story)["options"]["verb"] == "clean"
    assert nothing_starts(story)
    assert states(story, campaign).count("cancelled") == 3


def test_cancelling_before_the_first_make_cancels_everything(story: Story) -> None:
    campaign = campaign_of(story)
    story.person("POST", f"/campaigns/{campaign}/cancel")
    assert set(states(story, campaign)) == {"cancelled"}
    assert nothing_starts(story)


def test_a_second_campaign_waits_until_the_set_is_released(story: Story) -> None:
    plan = {"scratch": PLAN["scratch"] | {"filesystems": ["ext4"]}}
    campaign_of(story, **plan)
    campaign_of(story, **plan, name="second")
    finish_next(story)
    look(story, "ext4")
    finish_next(story)
    assert finish_next(story)["options"]["verb"] == "clean"
    assert finish_next(story)["campaign"] == "second"


def test_a_set_that_is_disabled_before_its_make_is_not_touched(story: Story) -> None:
    campaign = campaign_of(story)
    changed = hello("instance-n1").model_copy(
        update={"workloads": (workload("copy"),), "scratch_sets": (scratch_set("bays", scratch_set().disks[0]),)}
    )
    assert story.agent("/hello", changed.model_dump(mode="json")).status_code == 200
    for _ in range(6):
        assert nothing_starts(story)
        story.clock.now += timedelta(seconds=1)
    assert set(states(story, campaign)) == {"cancelled"}


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"set": "other"}, "scratch_set_unknown", "scratch.set"),
        ({"layouts": [{"raid": 5, "disks": 4, "chunk": "64 KiB"}]}, "scratch_empty", "scratch"),
    ],
)
def test_a_submission_names_what_cannot_be_made(story: Story, changes: dict[str, Any], code: str, field: str) -> None:
    plan = {**PLAN, "scratch": PLAN["scratch"] | changes, "name": "refused", "cluster": "blade", "nodes": ["n1"]}
    plan["workloads"] = [{"workload": "copy"}]
    plan["targets"] = [f"n1/{plan['scratch']['set']}"]
    answer = story.client.post(f"{API}/campaigns", json=plan, headers=story.admin.headers)
    assert (answer.json()["error"]["code"], answer.json()["error"]["field"]) == (code, field)
