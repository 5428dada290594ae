"""Client of the OpenID provider."""

import ssl
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import BoundedSemaphore, Thread
from typing import Any, Final, TypeVar

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from iotide_server.accounts.oidc.errors import PROVIDER_AWAY, PROVIDER_DISTRUSTED, PROVIDER_REFUSED
from iotide_server.accounts.oidc.flow import Flow
from iotide_server.accounts.oidc.terms import OidcTerms, groups_in
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.errors import IotideError
from iotide_wire.units import format_seconds

_REST: Final = timedelta(seconds=5)
"""After a timeout, requests fail at once for this long."""
_MOST_OPEN: Final = 16
"""Includes requests that timed out but are still open."""

T = TypeVar("T")


class ProviderLimit:
    """Time and concurrency limit of requests. Thread-safe."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._open = BoundedSemaphore(_MOST_OPEN)
        self._rests_until: datetime | None = None

    def within(self, talk: Callable[[], T], now: datetime) -> T:
        """Raise PROVIDER_AWAY if `talk` times out, or another request just did."""
        if self._rests_until is not None and now < self._rests_until:
            raise PROVIDER_AWAY(why="another request timed out a moment ago")
        if not self._open.acquire(blocking=False):
            raise PROVIDER_AWAY(why="too many requests to it are still open")
        outcome: Future[T] = Future()
        # No thread pool: process exit would wait for its threads.
        Thread(target=self._talk, args=(talk, outcome), name="openid-provider", daemon=True).start()
        try:
            return outcome.result(self._seconds)
        except TimeoutError as error:
            self._rests_until = now + timedelta(seconds=self._seconds) + _REST
            raise PROVIDER_AWAY(why=f"it did not respond within {format_seconds(self._seconds)}") from error

    def _talk(self, talk: Callable[[], T], outcome: "Future[T]") -> None:
        try:
            outcome.set_result(talk())
        except Exception as error:  # noqa: BLE001 - re-raised in the waiting thread
            outcome.set_exception(error)
        finally:
            self._open.release()


PROVIDER: Final[AppValue["Provider | None"]] = AppValue("provider")


_WELL_KNOWN: Final = "/.well-known/openid-configuration"
_ANSWER_SECONDS: Final = 10.0
_ANNOUNCED_GOOD_FOR: Final = timedelta(hours=1)
_KEYS_AGAIN_AFTER: Final = timedelta(minutes=1)
_LEEWAY_SECONDS: Final = 60

ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)
"""Public-key signatures only, whatever the provider announces."""

Claims = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Announced:
    metadata: Mapping[str, Any]  # https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata
    keys: KeySet
    read_at: datetime

    def endpoint(self, name: str) -> str | None:
        found = self.metadata.get(name)
        return found if isinstance(found, str) else None

    def needed_endpoint(self, name: str) -> str:
        found = self.endpoint(name)
        if found is None:
            raise PROVIDER_AWAY(why=f"it announces no {name}")
        return found


@dataclass
class Provider:
    """Thread-safe. Discovery is repeated hourly."""

    terms: OidcTerms
    redirect_uri: str
    patience: ProviderLimit = field(default_factory=lambda: ProviderLimit(_ANSWER_SECONDS))
    _announced: Announced | None = field(default=None, init=False)
    _trust: ssl.SSLContext | None = field(default=None, init=False)

    def sign_in_url(self, flow: Flow, now: datetime) -> str:
        """Raise PROVIDER_AWAY."""
        announced = self.patience.within(lambda: self._announcement(now), now)
        with self._client() as client:
            url, _ = client.create_authorization_url(
                announced.needed_endpoint("authorization_endpoint"),
                state=flow.state,
                nonce=flow.nonce,
                code_verifier=flow.verifier,
            )
        return str(url)

    def sign_out_url(self, landing: str, now: datetime) -> str | None:
        """Return the provider's sign-out address, which redirects to `landing`, if it has one."""
        # https://openid.net/specs/openid-connect-rpinitiated-1_0.html
        announced = self._announced
        if announced is None:
            try:
                announced = self.patience.within(lambda: self._announcement(now), now)
            except IotideError:
                return None
        endpoint = announced.endpoint("end_session_endpoint")
        if endpoint is None:
            return None
        query = {"client_id": self.terms.client_id, "post_logout_redirect_uri": landing}
        return str(httpx2.URL(endpoint).copy_merge_params(query))

    def claims(self, code: str, flow: Flow, now: datetime) -> Claims:
        """Raise PROVIDER_AWAY, PROVIDER_REFUSED or PROVIDER_DISTRUSTED."""
        return self.patience.within(lambda: self._claims(code, flow, now), now)

    def _claims(self, code: str, flow: Flow, now: datetime) -> Claims:
        announced = self._announcement(now)
        with self._client() as client:
            token = self._trade(client, announced, code, flow)
            id_token = token.get("id_token")
            if not isinstance(id_token, str):
                raise PROVIDER_DISTRUSTED(why="it contains no ID token")
            expected = Expected(self.terms.issuer, self.terms.client_id, flow.nonce, token.get("access_token"))
            try:
                claims = verify_id_token(id_token, announced.keys, expected, now)
            except InvalidKeyIdError:
                claims = verify_id_token(id_token, self._asked_within(_KEYS_AGAIN_AFTER, now).keys, expected, now)
            if groups_in(claims, self.terms.roles_claim) is None:
                claims = {**self._user_info(client, announced, claims["sub"]), **claims}
        return claims

    def _trade(self, client: OAuth2Client, announced: Announced, code: str, flow: Flow) -> Mapping[str, Any]:
        url = announced.needed_endpoint("token_endpoint")
        client.token_endpoint_auth_method = _way_to_prove(announced, self.terms)
        try:
            token: Mapping[str, Any] = client.fetch_token(
                url, code=code, code_verifier=flow.verifier, grant_type="authorization_code"
            )
        except OAuthError as error:
            raise PROVIDER_REFUSED(why=str(error)) from error
        except (httpx2.HTTPError, ValueError) as error:
            raise PROVIDER_AWAY(why=_words(error)) from error
        return token

    def _user_info(self, client: OAuth2Client, announced: Announced, subject: str) -> Claims:
        endpoint = announced.endpoint("userinfo_endpoint")
        if endpoint is None:
            return {}
        user_info = _json(client, endpoint)
        # An attacker who swaps the access token must not give the person another person's groups.
        if user_info.get("sub") != subject:
            raise PROVIDER_DISTRUSTED(why="its user info is for a different person")
        return user_info

    def _announcement(self, now: datetime) -> Announced:
        return self._asked_within(_ANNOUNCED_GOOD_FOR, now)

    def _asked_within(self, time: timedelta, now: datetime) -> Announced:
        announced = self._announced
        if announced is None or now - announced.read_at > time:
            announced = self._announced = self._ask(now)
        return announced

    def _ask(self, now: datetime) -> Announced:
        with self._client() as client:
            metadata = _json(client, self.terms.issuer.rstrip("/") + _WELL_KNOWN, withhold_token=True)
            if metadata.get("issuer") != self.terms.issuer:
                raise PROVIDER_AWAY(why=f"its issuer is {metadata.get('issuer')!r}, not {self.terms.issuer!r}")
            keys = _json(client, str(metadata.get("jwks_uri")), withhold_token=True)
        try:
            return Announced(metadata, KeySet.import_key_set(keys), now)  # type: ignore[arg-type]  # of the provider: joserfc judges it
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise PROVIDER_AWAY(why="its keys are invalid") from error

    def _client(self) -> OAuth2Client:
        if self._trust is None:
            self._trust = ssl.create_default_context()
        return OAuth2Client(
            self.terms.client_id,
            self.terms.client_secret,
            scope=self.terms.scopes,
            redirect_uri=self.redirect_uri,
            code_challenge_method="S256",
            timeout=_ANSWER_SECONDS,
            verify=self._trust,
        )


@dataclass(frozen=True, slots=True)
class Expected:
    issuer: str
    client_id: str
    nonce: str
    access_token: str | None


def verify_id_token(id_token: str, keys: KeySet, expected: Expected, now: datetime) -> Claims:
    """Raise PROVIDER_DISTRUSTED, or InvalidKeyIdError for an unknown key."""
    registry = JWSRegistry(algorithms=sorted(ALGORITHMS), strict_check_header=False)
    try:
        token = jwt.decode(id_token, keys, registry=registry)
        options = {
            "iss": {"essential": True, "value": expected.issuer},
            "aud": {"essential": True, "value": expected.client_id},
        }
        params = {
            "nonce": expected.nonce,
            "client_id": expected.client_id,
            "access_token": expected.access_token,
        }
        claims = CodeIDToken(token.claims, token.header, options, params)
        claims.validate(now=int(now.timestamp()), leeway=_LEEWAY_SECONDS)
    except InvalidKeyIdError:
        raise
    except (JoseError, ValueError, TypeError) as error:
        raise PROVIDER_DISTRUSTED(why=_words(error)) from error
    if not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise PROVIDER_DISTRUSTED(why="it names no user")
    return dict(claims)


def _way_to_prove(announced: Announced, terms: OidcTerms) -> str:
    if terms.client_secret is None:
        return "none"
    offered = announced.metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    return "client_secret_basic" if "client_secret_basic" in offered else "client_secret_post"


def _json(client: OAuth2Client, url: str, **how: bool) -> dict[str, Any]:
    try:
        response = client.request("GET", url, **how)
        response.raise_for_status()
        body = response.json()
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise PROVIDER_AWAY(why=_words(error)) from error
    if not isinstance(body, dict):
        raise PROVIDER_AWAY(why=f"{url} is not a JSON object")
    return body


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]
