import json
from pathlib import Path

import pytest

from iotide_wire.names import described, option_titles, option_value, plain_title

VALUES = json.loads((Path(__file__).parents[1] / "data/names.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "value", "shown"), VALUES["values"])
def test_a_value_reads_as_on_pages(name: str, value: object, shown: str) -> None:
    assert option_value(name, value) == shown


@pytest.mark.parametrize(("name", "title"), VALUES["titles"])
def test_a_label_without_a_schema_reads_as_on_pages(name: str, title: str) -> None:
    assert plain_title(name) == title


def test_options_are_named_by_their_schema() -> None:
    titles = option_titles({"properties": {"rw": {"title": "Pattern"}, "depth": {}}})
    assert titles == {"rw": "Pattern"}
    values = {"rw": "randread", "depth": 4, "size_bytes": 4096}
    assert described(values, titles) == "Pattern randread, Depth 4, Size 4 KiB"
    assert described(values, titles, ["depth", "absent"]) == "Depth 4"
