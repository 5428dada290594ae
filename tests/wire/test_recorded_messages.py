"""Every recorded message of earlier releases can still be read: agents of the previous release must keep working."""

import json
from pathlib import Path

import pytest
from wire_recordings import KINDS, kind_of, recordings

from iotide_wire.base import Message
from iotide_wire.measured import Flag, FlagCode, FlagEffect
from iotide_wire.messages import FinishRequest, HelloRequest
from iotide_wire.versions import SPOKEN_VERSIONS, WIRE_VERSION, as_spoken, unknown_to


def test_every_field_of_every_kind_was_recorded() -> None:
    said: dict[type[Message], set[str]] = {kind: set() for kind in KINDS.values()}
    for file in recordings():
        said[kind_of(file)] |= json.loads(file.read_text()).keys()
    assert said == {kind: set(kind.model_fields) for kind in KINDS.values()}, "run tests/contract/record_wire.py"


@pytest.mark.parametrize("file", recordings(), ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_recorded_message_is_read_without_loss(file: Path) -> None:
    recorded = json.loads(file.read_text())
    read = kind_of(file).model_validate(recorded).model_dump(mode="json")
    assert without_new_fields(read, recorded) == recorded


def without_new_fields(read: object, recorded: object) -> object:
    """Return the message without fields that did not exist at the time of the recording."""
    if isinstance(read, dict) and isinstance(recorded, dict):
        return {name: without_new_fields(read.get(name), part) for name, part in recorded.items()}
    if isinstance(read, list) and isinstance(recorded, list) and len(read) == len(recorded):
        return [without_new_fields(part, known) for part, known in zip(read, recorded, strict=True)]
    return read


@pytest.mark.parametrize("file", recordings(), ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_message_is_sent_without_fields_that_its_receiver_does_not_know(file: Path) -> None:
    version = int(file.parent.name.removeprefix("v"))
    kind = kind_of(file)
    said = json.loads(as_spoken(kind.model_validate_json(file.read_bytes()), version))
    assert said.keys() == kind.model_fields.keys() - unknown_to(kind, version)


def test_each_field_that_came_later_may_be_left_out() -> None:
    later = {(kind, name) for kind in KINDS.values() for name in unknown_to(kind, SPOKEN_VERSIONS.start)}
    assert {name for _, name in later} == {
        *("facts", "pending_until", "clock", "rotation_wanted"),
        *("spool_bytes", "not_before", "not_judged", "stuck", "problem", "scratch_sets"),
        *("gang", "directory_order_id"),
    }
    assert [name for kind, name in later if kind.model_fields[name].is_required()] == []


def test_a_server_of_an_older_version_is_sent_no_field_inside_a_list_that_it_would_refuse() -> None:
    hello = next(file for file in recordings() if kind_of(file) is HelloRequest)
    said = HelloRequest.model_validate_json(hello.read_bytes())
    metrics = {
        version: json.loads(as_spoken(said, version))["workloads"][0]["metrics"][0].keys()
        for version in SPOKEN_VERSIONS
    }
    assert metrics[WIRE_VERSION] - metrics[WIRE_VERSION - 1] == {"primary"}
    assert metrics[WIRE_VERSION - 1] == metrics[SPOKEN_VERSIONS.start]


def test_a_server_of_an_older_version_is_sent_no_flag_that_it_would_refuse() -> None:
    finish = next(file for file in recordings() if kind_of(file) is FinishRequest)
    flags = [
        Flag(code=code, effect=FlagEffect.MARKED, measured="0 s", limit="5 s")
        for code in (FlagCode.DURATION, FlagCode.LOAD_NOT_MEASURED, FlagCode.CUT, FlagCode.LATE_START)
    ]
    said = FinishRequest.model_validate_json(finish.read_bytes()).model_copy(update={"flags": tuple(flags)})
    codes = {
        version: [flag["code"] for flag in json.loads(as_spoken(said, version))["flags"]] for version in SPOKEN_VERSIONS
    }
    assert codes == {
        1: ["DURATION", "CLOCK"],
        2: ["DURATION", "CLOCK"],
        3: ["DURATION", "LOAD_NOT_MEASURED", "CUT", "LATE_START"],
    }
    assert "peers" not in json.loads(as_spoken(said, WIRE_VERSION - 1))["flags"][0]


def test_an_older_server_keeps_the_result_of_an_agent_that_reports_skipped_checks() -> None:
    newest = max(file for file in recordings() if kind_of(file) is FinishRequest)
    said = FinishRequest.model_validate_json(newest.read_bytes())
    assert said.not_judged
    assert said.foreign is not None
    assert said.foreign.before is not None
    assert said.foreign.before.within_seconds is not None
    old = json.loads(as_spoken(said, WIRE_VERSION - 1))
    assert "not_judged" not in old
    assert "within_seconds" not in old["foreign"]["before"]
