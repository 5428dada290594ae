from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotide_server.results.ingest.keys import Label, SeriesKey

KEY = SeriesKey(
    cluster_id=1,
    node_ids=frozenset({2}),
    target_ids=frozenset({3}),
    workload="dd",
    series_revision=1,
    options_sha256="0" * 64,
    metric="write_rate",
    labels={"operation": "write", "file_size_bytes": 1024},
)

labels = st.dictionaries(
    st.text("abc_", min_size=1, max_size=3), st.integers() | st.text("xyz1", max_size=3) | st.booleans(), max_size=5
)


@given(st.lists(st.integers(min_value=1), min_size=1), labels)
def test_the_order_of_nodes_targets_and_labels_does_not_matter(ids: list[int], given_labels: dict[str, Label]) -> None:
    forwards = replace(KEY, node_ids=frozenset(ids), target_ids=frozenset(ids), labels=given_labels)
    backwards = replace(
        KEY,
        node_ids=frozenset(reversed(ids)),
        target_ids=frozenset(reversed(ids)),
        labels=dict(reversed(given_labels.items())),
    )
    assert forwards.sha256 == backwards.sha256


def test_a_label_written_as_a_float_is_the_same_label() -> None:
    assert replace(KEY, labels={"operation": "write", "file_size_bytes": 1024.0}).sha256 == KEY.sha256


@pytest.mark.parametrize(
    "other",
    [
        replace(KEY, cluster_id=2),
        replace(KEY, node_ids=frozenset({2, 4})),
        replace(KEY, target_ids=frozenset({2})),
        replace(KEY, node_ids=KEY.target_ids, target_ids=KEY.node_ids),
        replace(KEY, workload="fio"),
        replace(KEY, series_revision=2),
        replace(KEY, options_sha256="1" * 64),
        replace(KEY, metric="read_rate"),
        replace(KEY, labels={"operation": "write"}),
        replace(KEY, labels={"operation": "write", "file_size_bytes": "1024"}),
    ],
)
def test_each_part_of_the_key_tells_series_apart(other: SeriesKey) -> None:
    assert other.sha256 != KEY.sha256


def test_the_digest_of_a_key_is_the_same_in_every_release() -> None:
    """Stored series are found by it: a change here would start every trend anew."""
    assert KEY.sha256 == "bf5086019939f8f5c109cb70ba3056f519c7e6528f03d2aeaedcccd84ad0ed00"
