"""Validation of an ID token: signed by the provider, for this client and this sign-in, and recent."""

import hmac
import json
from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import pytest
from factories.raised import raised
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError
from joserfc.jwk import ECKey, KeySet, RSAKey
from joserfc.jws import JWSRegistry

from iotide_server.accounts.oidc.errors import PROVIDER_DISTRUSTED
from iotide_server.accounts.oidc.provider import Expected, verify_id_token

NOW = datetime(2026, 11, 25, 2, 0, tzinfo=UTC)
EPOCH = int(NOW.timestamp())
KEY = RSAKey.generate_key(2048, {"kid": "k1", "use": "sig"})
EXPECTED = Expected("https://id.example.org", "iotide", "this-sign-in", None)
CLAIMS: dict[str, Any] = {
    "iss": "https://id.example.org",
    "aud": "iotide",
    "sub": "u-17",
    "nonce": "this-sign-in",
    "iat": EPOCH,
    "exp": EPOCH + 300,
}


def signed(claims: dict[str, Any], key: Any = KEY, **header: Any) -> str:  # noqa: ANN401 - any key, any header
    algorithm = header.get("alg", "RS256")
    return jwt.encode({"alg": "RS256", "kid": "k1"} | header, claims, key, registry=JWSRegistry(algorithms=[algorithm]))


def verified(token: str) -> Any:  # noqa: ANN401 - claims
    return verify_id_token(token, KeySet([KEY]), EXPECTED, NOW)


def test_a_token_for_this_sign_in_is_believed() -> None:
    assert verified(signed(CLAIMS))["sub"] == "u-17"


@pytest.mark.parametrize(
    "wrong",
    [
        {"nonce": "another-sign-in"},
        {"nonce": None},
        {"exp": EPOCH - 61},
        {"iss": "https://other.example.org"},
        {"aud": "another-client"},
        {"aud": ["another-client"]},
        {"aud": ["iotide", "another-client"], "azp": "another-client"},
        {"sub": ""},
        {"sub": None},
        {"exp": None},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_us_now_is_refused(wrong: dict[str, Any]) -> None:
    claims = {name: value for name, value in (CLAIMS | wrong).items() if value is not None}
    with raised(PROVIDER_DISTRUSTED):
        verified(signed(claims))


def test_a_clock_that_is_a_minute_off_is_no_reason() -> None:
    assert verified(signed(CLAIMS | {"exp": EPOCH - 59}))["sub"] == "u-17"


def by_hand(algorithm: str, secret: bytes | None) -> str:
    """Make a token that a library refuses to make."""
    parts = [
        urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in ({"alg": algorithm, "kid": "k1"}, CLAIMS)
    ]
    body = b".".join(parts)
    signature = b"" if secret is None else hmac.new(secret, body, sha256).digest()
    return (body + b"." + urlsafe_b64encode(signature).rstrip(b"=")).decode()


@pytest.mark.parametrize("algorithm", ["none", "None", "RS256"])
def test_a_token_without_signature_is_refused(algorithm: str) -> None:
    with raised(PROVIDER_DISTRUSTED):
        verified(by_hand(algorithm, None))


def test_a_token_signed_with_the_public_key_as_a_shared_secret_is_refused() -> None:
    with raised(PROVIDER_DISTRUSTED):
        verified(by_hand("HS256", KEY.as_pem(private=False)))


def test_a_token_signed_by_another_provider_is_rejected() -> None:
    with raised(PROVIDER_DISTRUSTED):
        verified(signed(CLAIMS, RSAKey.generate_key(2048)))
    with raised(PROVIDER_DISTRUSTED):
        verified(signed(CLAIMS, ECKey.generate_key("P-256"), alg="ES256"))


def test_an_unknown_key_has_its_own_error_so_that_the_keys_are_read_again() -> None:
    with pytest.raises(InvalidKeyIdError):
        verified(signed(CLAIMS, kid="k2"))


@pytest.mark.parametrize("text", ["", "a.b.c", "{}", "a" * 5000])
def test_an_invalid_token_is_refused(text: str) -> None:
    with raised(PROVIDER_DISTRUSTED):
        verified(text)
