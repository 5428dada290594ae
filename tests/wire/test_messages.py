from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from iotide_wire.measured import SampleMessage
from iotide_wire.messages import ClaimRequest, HeartbeatRequest, HelloReply, OrderHeartbeat, OrderState
from iotide_wire.plan import AdaptiveRepeats, CampaignPlan


def hello_reply(server_time: object) -> HelloReply:
    return HelloReply.model_validate(
        {"wire_version": 1, "node_id": 1, "node_name": "n", "server_time": server_time, "beat_seconds": 5}
    )


def test_times_are_turned_into_utc_and_need_a_zone() -> None:
    noon = datetime(2026, 11, 21, 12, tzinfo=timezone(timedelta(hours=2)))
    assert hello_reply(noon).server_time == datetime(2026, 11, 21, 10, tzinfo=UTC)
    assert hello_reply(noon).server_time.tzinfo is UTC
    with pytest.raises(ValidationError, match="needs its zone"):
        hello_reply("2026-11-21T10:00:00")


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"])
def test_a_time_that_utc_has_no_year_for_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="the years 1 to 9999"):
        hello_reply(text)


def test_unknown_field_is_an_error_and_not_dropped() -> None:
    with pytest.raises(ValidationError, match="surprise"):
        ClaimRequest.model_validate({"fence": 1, "agent_instance": "instance-1", "boot_id": "boot-0001", "surprise": 1})


@pytest.mark.parametrize("fence", [0, -1, 2**63])
def test_fence_fits_a_positive_bigint(fence: int) -> None:
    with pytest.raises(ValidationError, match="fence"):
        ClaimRequest(fence=fence, agent_instance="instance-1", boot_id="boot-0001")


@pytest.mark.parametrize("progress", [-0.1, 1.1])
def test_progress_is_a_fraction(progress: float) -> None:
    with pytest.raises(ValidationError, match="progress"):
        OrderHeartbeat(order_id=1, fence=1, state=OrderState.RUNNING, progress=progress, phase="", started_at=None)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_sample_is_a_finite_number(value: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        SampleMessage(metric="throughput", value=value, labels={}, target_id=1)


def test_messages_cannot_be_changed_after_they_were_made() -> None:
    heartbeat = HeartbeatRequest(agent_instance="instance-1", boot_id="boot-0001", sent_at=datetime.now(UTC), orders=())
    with pytest.raises(ValidationError, match="frozen"):
        heartbeat.boot_id = "other"  # type: ignore[misc]  # the mistake under test


PLAN: dict[str, object] = {
    "name": "first",
    "cluster": "demo",
    "nodes": ["n1"],
    "targets": ["t1"],
    "workloads": [{"workload": "dd"}],
}


def test_shortest_plan_has_the_defaults_of_an_honest_campaign() -> None:
    made = CampaignPlan.model_validate(PLAN)
    assert (made.repeats, made.exclusive, made.attempts_allowed, made.priority) == (4, "node", 2, 0)


def test_adaptive_repeats_and_spread_are_written_in_short() -> None:
    rule = {"until": "3 %", "most": 20, "seconds": "6 h"}
    made = CampaignPlan.model_validate(PLAN | {"repeats": rule})
    assert made.repeats == 20
    assert made.adaptive == AdaptiveRepeats(until_ratio=0.03, seconds=21_600.0)
    assert CampaignPlan.model_validate(made.model_dump(mode="json")) == made
    assert CampaignPlan.model_validate(PLAN | {"repeats": {"until": 0.05}}).repeats == 40
    spread = CampaignPlan.model_validate(PLAN | {"spread": "3 days"})
    assert (spread.spread_seconds, spread.adaptive) == (259_200.0, None)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"repeats": {"most": 20}}, "adaptive.until_ratio"),
        ({"repeats": {"until": "3"}}, "adaptive.until"),
        ({"repeats": {"until": 3}}, "adaptive.until"),
        ({"repeats": {"until": "3 %", "most": 0}}, "repeats"),
        ({"repeats": {"until": "3 %", "least": 4}}, "adaptive.least"),
        ({"spread": "-1 d"}, "spread"),
        ({"name": "../x"}, "name"),
        ({"name": "a b"}, "name"),
        ({"nodes": []}, "nodes"),
        ({"targets": ["/mnt"]}, "targets.0"),
        ({"workloads": []}, "workloads"),
        ({"workloads": [{"workload": "DD"}]}, "workloads.0.workload"),
        ({"workloads": [{"workload": "dd", "sweep": {"file_size_bytes": []}}]}, "workloads.0.sweep.file_size_bytes"),
        ({"repeats": 0}, "repeats"),
        ({"exclusive": "always"}, "exclusive"),
        ({"time_limit_seconds": 0}, "time_limit_seconds"),
        ({"priority": 10}, "priority"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_plan_names_the_field(changed: dict[str, object], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        CampaignPlan.model_validate(PLAN | changed)
    assert field in {".".join(str(part) for part in error["loc"]) for error in refused.value.errors()}
