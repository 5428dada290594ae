"""Messages as released agents and servers sent them; a file once released is never edited, only new ones come."""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from pydantic import ValidationError

from iotide_wire import WIRE_VERSION, messages, plan
from iotide_wire.base import Message
from iotide_wire.messages import BeatRequest, ClaimRequest, HelloReply, OrderBeat, OrderState, SampleMessage
from iotide_wire.plan import CampaignPlan

RELEASED = Path(__file__).parents[1] / "data" / "wire"
FILES = sorted(RELEASED.glob("*/*.json"))
SPOKEN = {"EnrollRequest", "EnrollReply", "HelloRequest", "HelloReply", "ClaimRequest", "Order"}
SPOKEN |= {"BeatRequest", "BeatReply", "FinishRequest", "FinishReply", "CampaignPlan"}


def model_of(path: Path) -> type[Message]:
    model = getattr(messages, path.stem, None) or getattr(plan, path.stem)
    assert isinstance(model, type)
    assert issubclass(model, Message)
    return model


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_released_message_is_still_understood_and_said_the_same_way(path: Path) -> None:
    message = model_of(path).model_validate_json(path.read_text())
    said = json.loads(message.model_dump_json())
    released = json.loads(path.read_text())
    assert {key: said[key] for key in released} == released


def test_every_spoken_message_of_this_version_is_on_record() -> None:
    assert {path.stem for path in FILES if path.parent.name == str(WIRE_VERSION)} == SPOKEN


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_unknown_field_is_an_error_and_not_dropped(path: Path) -> None:
    document = json.loads(path.read_text()) | {"surprise": 1}
    with pytest.raises(ValidationError, match="surprise"):
        model_of(path).model_validate(document)


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


@pytest.mark.parametrize("fence", [0, -1, 2**63])
def test_fence_fits_a_positive_bigint(fence: int) -> None:
    with pytest.raises(ValidationError, match="fence"):
        ClaimRequest(fence=fence, agent_instance="instance-1", boot_id="boot-0001")


@pytest.mark.parametrize("progress", [-0.1, 1.1])
def test_progress_is_a_fraction(progress: float) -> None:
    with pytest.raises(ValidationError, match="progress"):
        OrderBeat(order_id=1, fence=1, state=OrderState.RUNNING, progress=progress, phase="", started_at=None)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_sample_is_a_finite_number(value: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        SampleMessage(metric="throughput", value=value, labels={}, target_id=1)


def test_messages_cannot_be_changed_after_they_were_made() -> None:
    beat = BeatRequest(agent_instance="instance-1", boot_id="boot-0001", sent_at=datetime.now(UTC), orders=())
    with pytest.raises(ValidationError, match="frozen"):
        beat.boot_id = "other"  # type: ignore[misc]  # the mistake under test


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


@pytest.mark.parametrize(
    ("changed", "field"),
    [
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
