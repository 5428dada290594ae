import pytest

from iotide_wire.options import OptionError, to_base_units

SCHEMA = {
    "properties": {
        "file_size_bytes": {"type": "integer", "x-unit": "bytes"},
        "runtime_seconds": {"type": "number", "x-unit": "seconds"},
        "rate_bytes_per_second": {"type": "integer", "x-unit": "bytes_per_second"},
        "sizes_bytes": {"type": "array", "items": {"type": "integer", "x-unit": "bytes"}},
        "rw": {"type": "string"},
        "odd": {"type": "string", "x-unit": "parsec"},
    }
}


def test_texts_become_base_units_and_the_rest_passes() -> None:
    given = {
        "file_size_bytes": "64 MiB",
        "runtime_seconds": "2 min",
        "rate_bytes_per_second": "4096 Mbit/s",
        "sizes_bytes": ["1 kB", 5],
        "rw": "64 MiB",
        "odd": "3",
        "unknown": "1 GiB",
    }
    assert to_base_units(SCHEMA, given) == {
        "file_size_bytes": 64 * 1024**2,
        "runtime_seconds": 120.0,
        "rate_bytes_per_second": 512_000_000,
        "sizes_bytes": [1000, 5],
        "rw": "64 MiB",
        "odd": "3",
        "unknown": "1 GiB",
    }


def test_numbers_and_nonsense_are_left_to_the_validator() -> None:
    assert to_base_units(SCHEMA, {"file_size_bytes": 7, "runtime_seconds": None}) == {
        "file_size_bytes": 7,
        "runtime_seconds": None,
    }


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("file_size_bytes", "64 M"),
        ("runtime_seconds", "soon"),
        ("sizes_bytes", ["1 kB", "big"]),
        ("rate_bytes_per_second", "4096 Mb/s"),
    ],
)
def test_unknown_unit_names_option_value_and_remedy(option: str, value: object) -> None:
    with pytest.raises(OptionError) as refused:
        to_base_units(SCHEMA, {option: value})
    assert refused.value.option == option
    assert "write" in refused.value.remedy
    assert str(refused.value.value) in str(value)
