import pytest

from iotide_server.results.ingest.keys import is_below_clock


@pytest.mark.parametrize(
    ("labels", "seconds", "is_below"),
    [
        ({"part": "user"}, 0.0, True),
        ({"part": "sys"}, 0.09, True),
        ({"part": "wait"}, 0.01, True),
        ({"part": "user"}, 0.1, False),
        ({"part": "real"}, 0.01, False),
        ({"operation": "write"}, 0.01, False),
    ],
)
def test_processor_time_of_fewer_than_ten_ticks_has_no_spread(
    labels: dict[str, str], seconds: float, *, is_below: bool
) -> None:
    assert is_below_clock(labels, seconds) is is_below
