from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.results.ingest.keys import Label, key_sha256

KEY: dict[str, Any] = {
    "cluster_id": 1,
    "node_ids": [2],
    "target_ids": [3],
    "workload": "dd",
    "series_revision": 1,
    "options_sha256": "0" * 64,
    "metric": "write_rate",
    "labels": {"operation": "write", "file_size_bytes": 1024},
}

labels = st.dictionaries(
    st.text("abc_", min_size=1, max_size=3), st.integers() | st.text("xyz1", max_size=3) | st.booleans(), max_size=5
)


@given(st.lists(st.integers(min_value=1), min_size=1), labels)
def test_the_order_of_nodes_targets_and_labels_does_not_matter(ids: list[int], given_labels: dict[str, Label]) -> None:
    backwards, other = ids[::-1], dict(reversed(given_labels.items()))
    forwards = KEY | {"node_ids": ids, "target_ids": ids, "labels": given_labels}
    assert key_sha256(forwards) == key_sha256(KEY | {"node_ids": backwards, "target_ids": backwards, "labels": other})


def test_a_label_written_as_a_float_is_the_same_label() -> None:
    labels = {"operation": "write", "file_size_bytes": 1024.0}
    assert key_sha256(KEY | {"labels": labels}) == key_sha256(KEY)


@pytest.mark.parametrize(
    "other",
    [
        {"cluster_id": 2},
        {"node_ids": [2, 4]},
        {"target_ids": [2]},
        {"node_ids": [3], "target_ids": [2]},
        {"workload": "fio"},
        {"series_revision": 2},
        {"options_sha256": "1" * 64},
        {"metric": "read_rate"},
        {"labels": {"operation": "write"}},
        {"labels": {"operation": "write", "file_size_bytes": "1024"}},
    ],
)
def test_each_part_of_the_key_distinguishes_series(other: dict[str, Any]) -> None:
    assert key_sha256(KEY | other) != key_sha256(KEY)


def test_the_digest_of_a_key_is_the_same_in_every_release() -> None:
    """The digest identifies stored series: a change here would start every trend again."""
    assert key_sha256(KEY) == "bf5086019939f8f5c109cb70ba3056f519c7e6528f03d2aeaedcccd84ad0ed00"
