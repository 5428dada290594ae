import pytest

from iotide_server.kit.digests import canonical_json, canonical_sha256


def test_order_and_representation_of_equal_values_do_not_matter() -> None:
    written = {"size": 64.0, "sweep": (1, 2.0), "inner": {"b": 1, "a": None}}
    assert canonical_json(written) == canonical_json({"inner": {"a": None, "b": 1.0}, "sweep": [1, 2], "size": 64})


def test_true_is_not_one() -> None:
    assert canonical_sha256({"direct": True}) != canonical_sha256({"direct": 1})


def test_the_order_of_a_list_matters() -> None:
    assert canonical_sha256([1, 2]) != canonical_sha256([2, 1])


def test_numbers_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(float("nan"))
