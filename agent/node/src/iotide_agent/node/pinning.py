"""Trust in a new server: its authority must have the fingerprint in the join token."""

import hashlib
import re
import socket
import ssl
import sys
from typing import Final
from urllib.parse import urlsplit

_CONNECT_SECONDS: Final = 5.0
_HTTPS_PORT: Final = 443
_NO_FINGERPRINT: Final = "-"
_PEM: Final = re.compile("-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


class PinError(Exception):
    """No secret was sent to the server."""


def fingerprint_of(join_token: str) -> str | None:
    """Return the SHA-256 in a join token, or None; raise PinError for a truncated token."""
    secret, dot, fingerprint = join_token.rpartition(".")
    if not dot or not secret or not fingerprint:
        raise PinError(
            "the join token is incomplete; its form is SECRET.FINGERPRINT; copy it again from the cluster's page"
        )
    return None if fingerprint == _NO_FINGERPRINT else fingerprint.lower()


def pinned_authority(server_url: str, join_token: str) -> str | None:
    """Return the authority to trust, as PEM; None if the token names none.

    Raise PinError if no server answers or no certificate has the token's fingerprint.
    """
    url = urlsplit(server_url)
    fingerprint = fingerprint_of(join_token)
    if fingerprint is None:
        return None
    if url.scheme != "https":
        raise PinError(f"{server_url} is not encrypted, but the join token is for an encrypted server; use https://")
    host = url.hostname or ""
    try:
        chain = unverified_chain(host, url.port or _HTTPS_PORT)
    except OSError as error:
        raise PinError(f"{server_url} does not answer: {error}; check the address") from error
    for certificate in chain:
        if hashlib.sha256(certificate).hexdigest() == fingerprint:
            return ssl.DER_cert_to_PEM_cert(certificate)
    raise PinError(
        f"{server_url} shows no certificate with the fingerprint {fingerprint} of the join token: this is another "
        "server, or the connection is intercepted; get a new join token from the server itself"
    )


def checked_authority(ca_pem: str, join_token: str) -> str:
    """Return the authority in `ca_pem` that the token names, or all of it if the token names none; raise PinError."""
    fingerprint = fingerprint_of(join_token)
    if fingerprint is None:
        return ca_pem
    for certificate in _PEM.findall(ca_pem):
        if hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest() == fingerprint:
            return f"{certificate}\n"
    raise PinError(
        f"the file of --ca has no certificate with the fingerprint {fingerprint} of the join token: it is another "
        "server's; copy it again, or get a new join token from the server itself"
    )


def unverified_chain(host: str, port: int) -> list[bytes]:
    """Return certificates in DER, not trusted yet; nothing is sent."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with (
        socket.create_connection((host, port), _CONNECT_SECONDS) as connection,
        context.wrap_socket(connection, server_hostname=host) as encrypted,
    ):
        if sys.version_info >= (3, 13):
            return list(encrypted.get_unverified_chain())
        # Public since Python 3.13; the private method exists since 3.10. Remove with support for 3.12.
        shown = encrypted._sslobj.get_unverified_chain()  # type: ignore[attr-defined]  # noqa: SLF001
        return [ssl.PEM_cert_to_DER_cert(certificate.public_bytes()) for certificate in shown]
