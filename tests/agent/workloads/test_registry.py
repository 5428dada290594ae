import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from factories.plug_ins import install_module

from iotide_agent.probes.reader import CommandWant, Reader, SystemReader, Unavailable, Want
from iotide_agent.workloads.registry import (
    UnknownWorkloadError,
    all_workloads,
    announcement,
    announcements,
    workload,
)
from iotide_wire.vocabulary import MOST_STEPS, MOST_VALUES, Weights, require_vocabulary

PLUG_IN = """
from typing import ClassVar
from pydantic import Field
from iotide_agent.workloads.base import Options, Parsed, Settings, Workload
from iotide_wire.expressions import Number

class BlobOptions(Options):
    blob_size_bytes: int = Field(title="Blob", description="No default.", json_schema_extra={"x-unit": "bytes"})
    depth: int = 3

class NodeSettings(Settings):
    library: str = 'none'

class Blob(Workload[BlobOptions]):
    name: ClassVar[str] = "NAME"
    title = description = "A third party's"
    revision = 1
    tool = "blobber"
    package = "blob-tools"
    version_argv = ("blobber", "-V")
    metrics = ()
    bytes_needed = bytes_moved = Number.of(1)
    options_type = BlobOptions
    settings_type = NodeSettings
    def groups(self, options, place):
        return []
    def read(self, options, place, outcome):
        return Parsed()
"""


class FixedReader(Reader):
    """Reader that returns the same text for every request."""

    def __init__(self, answer: str | Unavailable) -> None:
        self.answer = answer
        self.asked: list[Want] = []

    def read(self, want: Want) -> str | Unavailable:
        self.asked.append(want)
        return self.answer


@pytest.fixture(autouse=True)
def _fresh_registry() -> Iterator[None]:
    all_workloads.cache_clear()
    yield
    all_workloads.cache_clear()


def install(site: Path, module: str, source: str, attribute: str = "Blob") -> None:
    install_module(site, "iotide.workloads", module, source, attribute)


def test_installed_plug_in_is_announced_like_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "iotide_test_blob", PLUG_IN.replace("NAME", "blob"))
    monkeypatch.syspath_prepend(tmp_path)

    reader = FixedReader("blobber 4.2\nCopyright\n")
    [found] = [item for item in announcements(reader, {}) if item.name == "blob"]

    assert found.tool_version == "blobber 4.2"
    assert found.option_defaults == {"depth": 3}
    assert found.options_schema["required"] == ["blob_size_bytes"]
    assert CommandWant(("blobber", "-V"), "blob-tools") in reader.asked


def test_choices_that_are_an_enum_are_announced_where_they_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers follow no references, and pydantic makes one for each Enum and for each nested model."""
    kinds = "from enum import StrEnum\nclass Kind(StrEnum):\n    A = 'a'\n    B = 'b'\n"
    fields = "depth: int = 3\n    kind: Kind = Field(default=Kind.A, title='Kind')\n    others: tuple[Kind, ...] = ()"
    install(tmp_path, "iotide_test_enum", kinds + PLUG_IN.replace("NAME", "enum").replace("depth: int = 3", fields))
    monkeypatch.syspath_prepend(tmp_path)
    [found] = [item for item in announcements(FixedReader("1.0"), {}) if item.name == "enum"]
    require_vocabulary(found)
    options = found.options_schema["properties"]
    assert options["kind"] == {"default": "a", "enum": ["a", "b"], "title": "Kind", "type": "string"}
    assert options["others"]["items"]["enum"] == ["a", "b"]


def test_settings_of_the_node_reach_the_plug_in_and_wrong_ones_make_it_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "iotide_test_blob", PLUG_IN.replace("NAME", "blob"))
    monkeypatch.syspath_prepend(tmp_path)

    assert workload("blob", {"blob": {"library": "fast"}}).settings.model_dump() == {"library": "fast"}
    wrong = {"blob": {"libary": "fast"}}
    [found] = [item for item in announcements(FixedReader("blobber 4.2"), wrong) if item.name == "blob"]
    assert not found.available
    assert "agent.toml: workloads.blob.libary = 'fast'" in str(found.unavailable_because)


@pytest.mark.parametrize(
    ("source", "attribute"),
    [
        ("raise RuntimeError('broken')", "Blob"),
        ("Blob = 3", "Blob"),
        (PLUG_IN.replace("NAME", "blob").replace("title = description", "description"), "Blob"),
        (PLUG_IN.replace("NAME", "no name"), "Blob"),
        (PLUG_IN.replace("NAME", "dd"), "Blob"),
        ("", "X"),
    ],
)
def test_broken_or_double_plug_in_is_logged_and_left_out(
    source: str, attribute: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    own = dict(all_workloads())
    all_workloads.cache_clear()
    monkeypatch.delitem(sys.modules, "iotide_test_broken", raising=False)
    install(tmp_path, "iotide_test_broken", source, attribute)
    monkeypatch.syspath_prepend(tmp_path)

    assert all_workloads().keys() == own.keys()
    assert type(all_workloads()["dd"]) is type(own["dd"])
    assert "iotide_test_broken" in caplog.text


def test_version_is_found_where_the_tool_hides_it() -> None:
    printed = "       'Iozone' Filesystem Benchmark Program\n \n        Version $Revision: 3.489 $\n"
    assert announcement(workload("iozone", {}), FixedReader(printed)).tool_version == "3.489"
    assert announcement(workload("iozone", {}), FixedReader("something else")).tool_version == "unknown"


def test_version_in_a_usage_message_only_is_found() -> None:
    found = announcement(workload("bonnie", {}), SystemReader())
    assert (found.available, str(found.tool_version)[:2]) == (True, "2.")


def test_absent_tool_is_announced_with_the_remedy() -> None:
    because = "fio is not installed; install the package fio on this node"
    found = announcement(workload("fio", {}), FixedReader(Unavailable(because)))
    assert (found.available, found.tool_version, found.unavailable_because) == (False, None, because)


def test_workload_without_a_tool_is_always_available() -> None:
    found = announcement(workload("create", {}), FixedReader(Unavailable("nothing here")))
    assert found.available
    assert found.tool == "Python"


def test_unknown_workload_names_those_that_there_are() -> None:
    with pytest.raises(
        UnknownWorkloadError, match=r"'bonie' is not installed here; this agent has dd, fill, create, fio"
    ):
        workload("bonie", {})


def test_the_longest_list_of_each_workload_is_judged_in_few_steps() -> None:
    for name, found in all_workloads().items():
        announced = announcement(found, FixedReader(Unavailable("not asked")))
        heaviest = max(Weights.of(announced.options_schema).by_option.values())
        assert heaviest * MOST_VALUES < MOST_STEPS / 2, name
