import base64

import pytest

from iotide_server.kit.vault import SealBrokenError, Vault

KEYS = [base64.b64encode(bytes([number]) * 32).decode() for number in (251, 7)]


@pytest.mark.parametrize("key", [KEYS[0], KEYS[0].rstrip("="), KEYS[0].replace("+", "-").replace("/", "_")])
def test_a_key_may_be_of_either_alphabet_with_or_without_padding(key: str) -> None:
    sealed = Vault(key).seal({"password": "right"})
    assert "right" not in sealed
    assert Vault(KEYS[0]).open(sealed) == {"password": "right"}


def test_an_old_key_still_opens_and_no_longer_seals() -> None:
    old, both, new = Vault(KEYS[0]), Vault(f"{KEYS[1]}, {KEYS[0]}"), Vault(KEYS[1])
    assert both.open(old.seal({"a": "b"})) == {"a": "b"}
    assert new.open(both.seal({"a": "b"})) == {"a": "b"}


def test_another_key_opens_nothing() -> None:
    with pytest.raises(SealBrokenError):
        Vault(KEYS[1]).open(Vault(KEYS[0]).seal({"a": "b"}))


@pytest.mark.parametrize("key", ["", "secret", KEYS[0][:-8]])
def test_an_invalid_key_is_refused_with_instructions_to_make_one(key: str) -> None:
    with pytest.raises(ValueError, match="openssl rand -base64 32"):
        Vault(key)
