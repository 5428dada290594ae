import json

import pytest

from iotide_server.kit.db import read_json

DEEP = b"[" * 500 + b"]" * 500


@pytest.mark.parametrize(
    "stored",
    [
        b"[]",
        b'{"a": {"b": [1, 2.5, null, true]}}',
        b"0.1234567890123456789",
        b"123456789012345678901",
        b'"\\u0000"',
        DEEP,
    ],
)
def test_stored_json_is_read_as_it_was_written(stored: bytes) -> None:
    assert read_json(stored) == json.loads(stored)


@pytest.mark.parametrize(
    ("stored", "read"),
    [(b'"rack\\ud8004"', "rack?4"), (b'["\\ude00", "\\ud83d\\ude00"]', ["?", "😀"])],
)
def test_a_lone_surrogate_is_replaced_so_that_the_row_can_be_sent(stored: bytes, read: object) -> None:
    assert read_json(stored) == read
