"""Tables as files for spreadsheets."""

import csv

import pytest

from iotide_server.kit.files import Column, FileFormat, as_file, as_text


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@A1", "\t=1", "\r=1", '=HYPERLINK("https://x.invalid";"look")'])
def test_no_text_is_a_formula(text: str) -> None:
    written = bytes(as_file([Column("note", str, [text])], FileFormat.CSV, "notes").body).decode()
    [_, [cell]] = list(csv.reader(written.splitlines(keepends=True)))
    assert cell == f"'{text}"


@pytest.mark.parametrize("value", [-1, -1.5, None, True, "1-2", "a=b"])
def test_numbers_and_other_texts_are_unchanged(value: object) -> None:
    assert as_text(value) == value
