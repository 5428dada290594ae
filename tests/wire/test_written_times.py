"""Times as users write them: with date and zone, never a number of seconds."""

from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter, ValidationError

from iotide_wire.base import WrittenTime

TIME: TypeAdapter[datetime] = TypeAdapter(WrittenTime)


@pytest.mark.parametrize("number", [0, 1.5, "1790000000", "-5", "1e-9", "4.99671795158786e-36", "nan"])
def test_a_number_is_rejected_with_an_example(number: object) -> None:
    with pytest.raises(ValidationError, match="write a time with date and zone, for instance 2026-11-21T10:00:00Z"):
        TIME.validate_python(number)


def test_a_time_with_a_zone_is_converted_to_utc() -> None:
    assert TIME.validate_python("2026-11-21T11:00:00+01:00") == datetime(2026, 11, 21, 10, tzinfo=UTC)
