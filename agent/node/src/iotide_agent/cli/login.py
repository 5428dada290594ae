"""`iotide login`: a user confirms in the browser that this command may act for them."""

import base64
import hashlib
import os
import secrets
import socket
import ssl
import time
import webbrowser
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Final
from urllib.parse import urlencode, urlsplit

import typer

from iotide_agent.cli.api import Api, Document, UnreachableError
from iotide_agent.cli.kept_login import Login, keep, kept_login
from iotide_agent.cli.problems import Problem, RefusedError
from iotide_agent.cli.server import is_confirmed
from iotide_agent.cli.speaking import say
from iotide_agent.node.pinning import unverified_chain

VALID_SECONDS: Final = 600.0
_PAUSE_SECONDS: Final = 2.0
"""Between two questions whether the browser has confirmed the login."""
_HTTPS_PORT: Final = 443
_TOKEN_PREFIX: Final = "iot_"  # noqa: S105 - the beginning of every API token
_CODE_BYTES: Final = 5
_UNKNOWN_TOKEN: Final = "not_authenticated"  # noqa: S105 - an error code
_MOST_UNANSWERED: Final = 5


def log_in(
    server: Annotated[str, typer.Argument(metavar="URL", help="Address of the server, such as https://SERVER:8470.")],
    *,
    fingerprint: Annotated[
        str | None,
        typer.Option(help="SHA-256 of the server's authority, for scripts: the second half of a join token."),
    ] = None,
) -> None:
    """Sign in at a server, and keep its address, a token and its certificate for the other commands.

    Prints an address and a code. Open the address in a browser, compare the code and confirm.
    """
    url = server.rstrip("/")
    ca_pem = _authority(url, fingerprint)
    token = _TOKEN_PREFIX + secrets.token_urlsafe(32)
    digest = hashlib.sha256(token.encode()).hexdigest()
    address = _address(url, digest)
    say(f"Open this address, compare the code {code_of(digest)}, and confirm within 10 minutes:\n{address}")
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)
    with Api(url, token, ssl.create_default_context(cadata=ca_pem)) as api:
        principal = _confirmed(api)["principal"]
    file = keep(Login(url, token, ca_pem))
    say(f"signed in as {principal['name']} for 90 days; {file} keeps the token")


def code_of(digest: str) -> str:
    """Return what the terminal and the browser show: the beginning of the token's SHA-256 in base 32."""
    text = base64.b32encode(bytes.fromhex(digest)[:_CODE_BYTES]).decode()
    return f"{text[:4]}-{text[4:]}"


def _address(url: str, digest: str) -> str:
    asked_at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    query = {"login": f"sha256-{digest}", "name": f"iotide on {socket.gethostname()}", "at": asked_at}
    return f"{url}/connect?{urlencode(query)}"


def _confirmed(api: Api) -> Document:
    """Wait until the server knows the token; raise RefusedError after ten minutes."""
    ends_at, unanswered = time.monotonic() + VALID_SECONDS, 0
    while time.monotonic() < ends_at:
        try:
            return api.get("/session")
        except UnreachableError:
            unanswered += 1
            if unanswered == _MOST_UNANSWERED:
                raise
        except RefusedError as refused:
            unanswered = 0
            if refused.problems[0].code != _UNKNOWN_TOKEN:
                raise
        time.sleep(_PAUSE_SECONDS)
    raise _refused("login_expired", "the login was not confirmed within 10 minutes", "run `iotide login` again")


def _authority(url: str, fingerprint: str | None) -> str | None:
    """Return the authority to trust; None for those of the system. Ask for one that is new here."""
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname in {"127.0.0.1", "::1", "localhost"}:
        return None
    if parts.scheme != "https" or not parts.hostname:
        raise _refused("invalid_input", f"{url} is not an https address", "use for example https://iotide.example:8470")
    place = parts.hostname, parts.port or _HTTPS_PORT
    try:
        if fingerprint is None and _is_trusted_by_system(*place):
            return None
        chain = unverified_chain(*place)
    except OSError as error:
        raise _refused("unreachable", f"{url} does not answer: {error}", "check the address and the network") from error
    return _chosen(url, chain, fingerprint)


def _chosen(url: str, chain: Sequence[bytes], fingerprint: str | None) -> str:
    found = {hashlib.sha256(certificate).hexdigest(): certificate for certificate in chain}
    kept = kept_login()
    if fingerprint is None and kept is not None and kept.url == url and kept.ca_pem is not None:
        fingerprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert(kept.ca_pem)).hexdigest()
    if fingerprint is not None:
        chosen = found.get(fingerprint.lower().replace(":", ""))
        if chosen is None:
            message = f"{url} shows no certificate with the fingerprint {fingerprint}"
            remedy = "this is another server, or the connection is intercepted; ask the server's administrator"
            raise _refused("another_authority", message, remedy)
        return ssl.DER_cert_to_PEM_cert(chosen)
    authority = list(found)[-1]
    say(f"This system does not know the authority of {url}. Its fingerprint (SHA-256) is\n{authority}")
    say("Compare it: `iotide-server up` prints it, and the second half of a join token is the same.")
    if not is_confirmed("Trust this authority?", remedy=f"use --fingerprint {authority}, if that is the right one"):
        raise _refused("not_confirmed", "the authority is not trusted", "ask the server's administrator for it")
    return ssl.DER_cert_to_PEM_cert(found[authority])


def _is_trusted_by_system(host: str, port: int) -> bool:
    context = ssl.create_default_context()
    try:
        with (
            socket.create_connection((host, port), 5) as connection,
            context.wrap_socket(connection, server_hostname=host),
        ):
            return True
    except ssl.SSLCertVerificationError:
        return False


def _refused(code: str, message: str, remedy: str) -> RefusedError:
    return RefusedError([Problem(code, message, remedy=remedy)])
