"""Trust in a server never seen before: its authority is believed because the join token names its fingerprint."""

import hashlib
import socket
import ssl
import sys
from typing import Final
from urllib.parse import urlsplit

_CONNECT_SECONDS: Final = 5.0
_HTTPS_PORT: Final = 443
_NO_FINGERPRINT: Final = "-"


class PinError(Exception):
    """The server does not show the authority that the join token names; no secret was sent to it."""


def fingerprint_of(join_token: str) -> str | None:
    """Return the SHA-256 of the authority that a join token names, or None; raise PinError where it is cut."""
    secret, dot, fingerprint = join_token.rpartition(".")
    if not dot or not secret or not fingerprint:
        raise PinError("the join token is not whole: it looks like SECRET.FINGERPRINT; copy it again from the cluster")
    return None if fingerprint == _NO_FINGERPRINT else fingerprint.lower()


def pinned_authority(server_url: str, join_token: str) -> str | None:
    """Return the authority to believe, as PEM; None where the token names none.

    Raise PinError where nobody answers, or no certificate that the server shows has the token's fingerprint.
    """
    url = urlsplit(server_url)
    fingerprint = fingerprint_of(join_token)
    if fingerprint is None:
        return None
    if url.scheme != "https":
        raise PinError(f"{server_url} is not encrypted, but the join token is for a server that is: write https://")
    host = url.hostname or ""
    try:
        chain = _unverified_chain(host, url.port or _HTTPS_PORT)
    except OSError as error:
        raise PinError(f"{server_url} does not answer: {error}; is the address right?") from error
    for certificate in chain:
        if hashlib.sha256(certificate).hexdigest() == fingerprint:
            return ssl.DER_cert_to_PEM_cert(certificate)
    raise PinError(
        f"{server_url} shows no certificate with the fingerprint {fingerprint} of the join token: this is another "
        "server, or somebody stands between; take a fresh join token from the server itself"
    )


def _unverified_chain(host: str, port: int) -> list[bytes]:
    """What the server shows, in DER; nothing is sent and nothing of it is believed yet."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with (
        socket.create_connection((host, port), _CONNECT_SECONDS) as connection,
        context.wrap_socket(connection, server_hostname=host) as encrypted,
    ):
        if sys.version_info >= (3, 13):
            return list(encrypted.get_unverified_chain())
        # Public from Python 3.13 on; the method below is there since 3.10. Goes with support for 3.12.
        shown = encrypted._sslobj.get_unverified_chain()  # type: ignore[attr-defined]  # noqa: SLF001
        return [ssl.PEM_cert_to_DER_cert(certificate.public_bytes()) for certificate in shown]
