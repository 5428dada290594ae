"""Releases of tools: which ones a node refuses, which ones results call untested, and the page that lists them."""

from pathlib import Path

import pytest
from factories.released_outputs import Printed

from iotide_agent.workloads.registry import all_workloads, announcement, workload
from iotide_agent.workloads.releases import Releases, as_table, judge_release, unread_remedy, why_unsupported

DOCUMENT = Path(__file__).parents[3] / "docs/tested.md"
FIO = (Releases("fio", "3.0", "3.42"),)
TWO = (Releases("GNU dd", "8.0", "9.1", mark="(coreutils)"), Releases("uutils dd", "0.8", "0.8", mark="uutils"))


def test_the_page_lists_the_releases_in_the_code() -> None:
    assert as_table((name, one.supported) for name, one in all_workloads().items()) in DOCUMENT.read_text()


@pytest.mark.parametrize("name", ["fio", "rawread"])
def test_a_node_with_too_old_a_release_says_so_before_any_run(name: str) -> None:
    found = announcement(workload(name, {}), Printed("fio-2.16\n"))
    assert (found.available, found.tool_version) == (False, None)
    assert found.unavailable_because == "fio 2.16 is too old, 3.0 or newer is needed"


@pytest.mark.parametrize(
    "version", ["fio-3.0", "fio-3.1", "fio-3.9", "fio-3.33-46-gf7942", "fio-3.42", "fio-3.42.1", "fio-3", "unknown"]
)
def test_a_release_that_can_be_read_is_available(version: str) -> None:
    assert why_unsupported(version, FIO, "fio") is None
    assert announcement(workload("fio", {}), Printed(version)).available


@pytest.mark.parametrize("version", ["fio-2.16", "fio-2.99.5", "fio-1.59", "fio-2.2.10-dirty"])
def test_parts_of_a_release_are_compared_as_numbers(version: str) -> None:
    assert "is too old" in str(why_unsupported(version, FIO, "fio"))


def test_programs_of_one_name_have_their_own_releases() -> None:
    assert why_unsupported("dd (coreutils) 8.32", TWO, "coreutils") is None
    assert why_unsupported("dd (uutils coreutils) 0.8.0", TWO, "coreutils") is None
    old = why_unsupported("dd (uutils coreutils) 0.0.30", TWO, "coreutils")
    assert old == "uutils dd 0.0.30 is too old, 0.8 or newer is needed"
    other = why_unsupported("BusyBox v1.36.1", TWO, "coreutils")
    assert other == "'BusyBox v1.36.1' is not GNU dd or uutils dd; install the package coreutils on this node"


@pytest.mark.parametrize(
    ("version", "because"),
    [
        ("fio-3.43", "fio 3.43 is newer than 3.42, the newest that was tested"),
        ("fio-4.0-rc1", "fio 4.0 is newer than 3.42, the newest that was tested"),
        ("unknown", "the installed release of fio is unknown"),
    ],
)
def test_results_of_an_untested_release_say_so(version: str, because: str) -> None:
    assert [one.because for one in judge_release(version, FIO)] == [because]
    assert unread_remedy(version, FIO) == f"printed by {version}; install fio 3.0 to 3.42 on the node"


@pytest.mark.parametrize("version", ["fio-3.9", "fio-3.42-7-gabc", None])
def test_results_of_a_tested_release_have_no_remark(version: str | None) -> None:
    assert judge_release(version, FIO) == []
    assert judge_release(version, ()) == []
    assert "iotide run reparse" in unread_remedy(version, FIO)
