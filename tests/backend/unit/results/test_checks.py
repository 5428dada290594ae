import hashlib
from datetime import UTC, datetime

import pytest
from factories.raised import raised

from iotide_server.kit.errors import InvalidInputError
from iotide_server.results.errors import (
    ARTEFACT_TOO_LARGE,
    DIGEST_MISMATCH,
    LABEL_NOT_DECLARED,
    METRIC_NOT_DECLARED,
    TARGET_NOT_MEASURED,
)
from iotide_server.results.ingest.checks import MAX_ARTEFACT_BYTES, check_artefact, check_curve, check_samples
from iotide_wire.catalogue import MetricSpec
from iotide_wire.measured import SampleMessage
from iotide_wire.messages import CurvePiece
from iotide_wire.units import Unit

RATE = MetricSpec(
    name="write_rate", title="Write rate", unit=Unit.BYTES_PER_SECOND, better="higher", labels=("operation",)
)
START = datetime(2026, 11, 21, tzinfo=UTC)


def sample(metric: str = "write_rate", target_id: int | None = None, **labels: str) -> SampleMessage:
    return SampleMessage(metric=metric, value=1.0, labels=labels, target_id=target_id)


def check(*samples: SampleMessage) -> None:
    check_samples(samples, {RATE.name: RATE}, frozenset({3}))


def curve(*values: float, started_at: datetime = START, step_seconds: float = 1.0) -> CurvePiece:
    return CurvePiece(counter="write_bytes", started_at=started_at, step_seconds=step_seconds, values=values)


def test_declared_samples_pass() -> None:
    check(sample(operation="write"), sample(), sample(target_id=3))


def test_an_undeclared_metric_is_refused_by_its_place_and_name() -> None:
    with raised(METRIC_NOT_DECLARED, match="no metric iops") as refused:
        check(sample(), sample("iops"))
    assert (refused.value.status, refused.value.field) == (422, "samples[1].metric")
    assert "write_rate" in str(refused.value.remedy)


def test_an_undeclared_label_is_refused() -> None:
    with raised(LABEL_NOT_DECLARED, match="without a label phase") as refused:
        check(sample(operation="write", phase="late"))
    assert refused.value.field == "samples[0].labels.phase"


def test_a_target_of_another_run_is_refused() -> None:
    with raised(TARGET_NOT_MEASURED, match="does not use target 4"):
        check(sample(target_id=4))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e39])
def test_a_curve_value_that_no_column_can_hold_is_refused(value: float) -> None:
    with pytest.raises(InvalidInputError, match="is not a finite 32-bit number"):
        check_curve(curve(1.0, value))


def test_a_curve_value_too_small_for_its_column_is_nothing() -> None:
    assert check_curve(curve(1e-300)).values == (0.0,)


@pytest.mark.parametrize(
    "piece",
    [
        curve(1.0, step_seconds=1e9),
        curve(1.0, step_seconds=1e-7),
        curve(1.0, started_at=START.replace(year=1)),
        curve(1.0, started_at=START.replace(year=9999)),
    ],
)
def test_a_curve_of_a_broken_clock_is_refused(piece: CurvePiece) -> None:
    with pytest.raises(InvalidInputError, match="are out of range"):
        check_curve(piece)


def test_an_artefact_that_was_changed_on_its_way_is_refused_with_both_digests() -> None:
    announced, found = hashlib.sha256(b"sent").hexdigest(), hashlib.sha256(b"received").hexdigest()
    with raised(DIGEST_MISMATCH) as refused:
        check_artefact("stdout", announced, b"received")
    assert announced in str(refused.value)
    assert found in str(refused.value)
    assert refused.value.status == 422


def test_an_artefact_may_be_as_large_as_the_limit_and_no_larger() -> None:
    largest = bytes(MAX_ARTEFACT_BYTES)
    check_artefact("stdout", hashlib.sha256(largest).hexdigest(), largest)
    with raised(ARTEFACT_TOO_LARGE, match="16777217 bytes") as refused:
        check_artefact("stdout", hashlib.sha256(largest + b"x").hexdigest(), largest + b"x")
    assert refused.value.status == 413
