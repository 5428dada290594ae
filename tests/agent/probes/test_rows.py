import logging
from typing import Any

import pytest

from iotide_agent.probes.rows import read_rows


def test_rows_that_cannot_be_read_are_skipped_counted_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    rows = ["1", "one of test_rows", "", "3"]
    with caplog.at_level(logging.WARNING):
        found = [read_rows("numbers", rows, lambda row: int(row) if row != "3" else None) for _ in range(3)]
    assert found == [[1]] * 3
    assert [record.getMessage() for record in caplog.records] == [
        "rows_skipped source=numbers count=2 first='one of test_rows'"
    ]


def test_a_row_of_another_shape_is_skipped_like_one_that_cannot_be_read() -> None:
    rows: list[Any] = [{"name": "a"}, {}, None, 7, {"name": "b"}]
    assert read_rows("shapes", rows, lambda row: row["name"]) == ["a", "b"]


def test_a_fault_of_the_own_code_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        read_rows("faults", [0], lambda row: 1 // row)
