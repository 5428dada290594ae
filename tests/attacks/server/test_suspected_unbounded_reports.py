"""Suspected by the security review: a stolen token fills the database's disk, or makes a series of each number."""

import hashlib
import re
from dataclasses import fields
from pathlib import Path
from secrets import token_bytes
from typing import Final

import pytest
from factories.raised import raised
from factories.site import Offered, SimulatedAgent, Site
from sqlalchemy import text

from iotide_server.agent_api import service as gateway
from iotide_server.agent_api.service import RawOutput
from iotide_server.results.errors import RAW_OUTPUT_FULL, REPORT_TOO_LARGE, SURFACE_TOO_LARGE
from iotide_server.results.ingest.checks import check_size
from iotide_server.results.ingest.limits import ReportLimits
from iotide_server.settings import Settings
from iotide_wire.measured import SampleMessage
from iotide_wire.messages import ArtefactFact, Outcome
from iotide_wire.units import format_bytes

BLOB_BYTES: Final = "SELECT pg_total_relation_size('blob')"
ISOLATION: Final = (Path(__file__).parents[3] / "docs/isolation.md").read_text()


def put(site: Site, agent: SimulatedAgent, offer: Offered, name: str, content: bytes, limits: ReportLimits) -> None:
    raw = RawOutput(name, hashlib.sha256(content).hexdigest(), content)
    with site.database.transaction() as session:
        gateway.store_artefact(session, agent.node_id, offer.order_id, offer.fence, raw, limits=limits)


def kept(site: Site, statement: str) -> list[object]:
    with site.database.transaction() as session:
        return list(session.scalars(text(statement)))


def sample(number: int = 0, **labels: str | int) -> SampleMessage:
    return SampleMessage(metric="rate", value=float(number), labels=labels, target_id=None)


def test_raw_output_of_an_order_stays_within_its_limit_also_after_the_end(plant: Site) -> None:
    agent, offer = plant.start_load()
    limits = ReportLimits(raw_bytes=10)
    put(plant, agent, offer, "a", b"12345", limits)
    put(plant, agent, offer, "a", b"1234567", limits)  # in the place of the first
    agent.finish(offer)
    with raised(RAW_OUTPUT_FULL) as refused:
        put(plant, agent, offer, "b", b"1234", limits)
    error = refused.value
    assert (error.status, error.code, error.field, error.value) == (413, "raw_output_full", "b", 11)
    assert str(error) == "artefact b: the order would have 11 bytes of raw output; at most 10 are kept"
    assert error.remedy is not None
    assert kept(plant, "SELECT name FROM artefact") == ["a"]
    assert kept(plant, "SELECT convert_from(content, 'UTF8') FROM blob ORDER BY 1") == ["1234567"]


def test_raw_output_of_a_node_and_day_stays_within_its_limit_whatever_the_orders_are(plant: Site) -> None:
    limits = ReportLimits(raw_bytes_a_day=10)
    agent, offer = plant.start_load()
    put(plant, agent, offer, "a", b"12345", limits)
    agent.finish(offer)
    plant.change("UPDATE node_beat SET raw_bytes = 5 WHERE raw_on IS NOT NULL")  # without the result
    put(plant, agent, offer, "a", b"12345", limits)  # the same again counts once
    agent, offer = plant.start_load()
    put(plant, agent, offer, "a", b"123", limits)
    with raised(RAW_OUTPUT_FULL, match="the node today would have 12 bytes of raw output; at most 10"):
        put(plant, agent, offer, "b", b"1234", limits)
    assert kept(plant, "SELECT raw_bytes FROM node_beat WHERE raw_on IS NOT NULL") == [8]
    plant.change("UPDATE node_beat SET raw_on = raw_on - 1")
    put(plant, agent, offer, "b", b"1234", limits)
    assert kept(plant, "SELECT raw_bytes FROM node_beat WHERE raw_on IS NOT NULL") == [4]


def test_refused_raw_output_takes_no_room_of_the_database(plant: Site) -> None:
    agent, offer = plant.start_load()
    before = kept(plant, BLOB_BYTES)
    for _ in range(2):
        with raised(RAW_OUTPUT_FULL):
            put(plant, agent, offer, "a", token_bytes(100_000), ReportLimits(raw_bytes_a_day=10))
    assert kept(plant, BLOB_BYTES) == before


@pytest.mark.parametrize(
    ("samples", "limits", "message", "value"),
    [
        ([sample(), sample()], ReportLimits(samples=1), "samples: 2 samples; at most 1", 2),
        ([sample(a=1), sample(a=2)], ReportLimits(series=1), "samples: 2 series; at most 1", 2),
        ([sample(a=1, b=2)], ReportLimits(labels=1), "samples[0].labels: 2 labels of a value; at most 1", 2),
        (
            [sample(a=1), sample(a=2)],
            ReportLimits(label_values=1),
            "samples[1].labels.a: 2 values of the label a; at most 1",
            2,
        ),
        ([sample(a="x" * 201)], ReportLimits(), "samples[0].labels.a: 201 characters of a label; at most 200", 201),
    ],
)
def test_a_result_beyond_a_limit_names_field_value_limit_and_remedy(
    samples: list[SampleMessage], limits: ReportLimits, message: str, value: int
) -> None:
    with raised(REPORT_TOO_LARGE) as refused:
        check_size(samples, limits)
    error = refused.value
    assert (error.status, error.code, error.message, error.value) == (422, "report_too_large", message, value)
    assert error.remedy is not None


def test_a_result_with_a_series_for_each_number_fails_its_run_with_a_message(plant: Site) -> None:
    agent, offer = plant.start_load()
    numbers = [
        {"metric": "throughput", "value": 1.0, "labels": {"operation": f"{number}"}, "target_id": None}
        for number in range(10_001)
    ]
    assert agent.hand_in(offer, agent.result(offer, samples=tuple(numbers))).accepted
    run = plant.run(offer.run_id)
    assert (run.state, run.reason_code) == ("failed", "report_too_large")
    assert run.reason is not None
    assert "samples[10000].labels.operation: 10001 values of the label operation; at most 10000" in run.reason
    assert kept(plant, "SELECT count(*) FROM series") == [0]


def test_late_results_leave_no_more_lines_in_the_log_than_the_limit(plant: Site) -> None:
    agent, offer = plant.start_load()
    agent.finish(offer)
    for number in range(5):
        late = agent.result(offer, Outcome.FAILED, reason=f"late {number}")
        with plant.database.transaction() as session:
            limits = ReportLimits(log_lines=3)
            gateway.finish(session, agent.node_id, offer.order_id, late, plant.clock(), limits=limits)
    assert kept(plant, "SELECT count(*) FROM run_event WHERE kind = 'stale_result'") == [3]


def test_raw_output_that_never_came_leaves_no_more_lines_in_the_log_than_the_limit(plant: Site) -> None:
    agent, offer = plant.start_load()
    facts = [ArtefactFact(name=f"a{number}", sha256="0" * 64, size_bytes=1) for number in range(5)]
    result = agent.result(offer, artefacts=tuple(facts))
    with plant.database.transaction() as session:
        gateway.finish(session, agent.node_id, offer.order_id, result, plant.clock(), limits=ReportLimits(log_lines=3))
    lines = kept(plant, "SELECT text FROM run_event WHERE kind = 'artefact_missing' ORDER BY id")
    assert len(lines) == 3
    assert lines[-1] == "3 further files of raw output never arrived"


def test_a_surface_of_invented_sizes_is_not_laid_out() -> None:
    error = SURFACE_TOO_LARGE(operation="write", files=2_000, records=2_000, most=40_000)
    assert (error.status, error.code, error.field) == (422, "surface_too_large", "operation")


def test_each_limit_is_a_setting_and_is_in_the_table() -> None:
    rows = dict(re.findall(r"^\| `IOTIDE_REPORT_([A-Z_]+)` \| ([^|]+) \|", ISOLATION, re.MULTILINE))
    assert {name.lower() for name in rows} == {field.name for field in fields(ReportLimits)}
    assert {f"report_{field.name}" for field in fields(ReportLimits)} <= Settings.model_fields.keys()
    for name, default in rows.items():
        number = getattr(ReportLimits(), name.lower())
        shown = format_bytes(number) if name.endswith(("BYTES", "BYTES_A_DAY")) else f"{number:,}"
        assert default == shown, name
