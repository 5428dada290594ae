"""Attempts to send messages by HTTP or SMTP."""

import re
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from smtplib import (
    SMTP,
    SMTP_SSL,
    SMTPException,
    SMTPNotSupportedError,
    SMTPRecipientsRefused,
    SMTPResponseException,
)
from typing import Any, Final
from urllib.parse import urlsplit

from iotide_server.notifications.addresses import ANSWER_SECONDS, AddressForbiddenError, Reach
from iotide_server.notifications.letters import (
    Parcel,
    mail,
    mattermost_body,
    slack_body,
    webhook_body,
    webhook_headers,
)
from iotide_wire.units import format_seconds

_MOST_READ_BYTES: Final = 4096
_MOST_WORDS: Final = 300
_SHORTEST_SECRET: Final = 4
_TRY_AGAIN_STATUSES: Final = frozenset({408, 425, 429})
_OK, _REDIRECTS, _REFUSALS, _FAULTS = range(200, 300), range(300, 400), range(400, 500), range(500, 600)
_SMTP_PERMANENT: Final = 500
_SECONDS: Final = re.compile("[0-9]{1,6}")


class Result(StrEnum):
    """Outcome of an attempt; REFUSED is not tried again."""

    DELIVERED = "delivered"
    TRY_AGAIN = "try_again"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class AttemptOutcome:
    result: Result
    # HTTP or SMTP status with its meaning, or the error, without the receiver's text
    words: str
    # the receiver's own text, without secrets; any reachable service may have written it
    answer: str = ""
    pause: timedelta | None = None  # requested by the receiver

    def shown(self, *, with_answer: bool) -> str:
        return words_of(self.words, self.answer if with_answer else None)


def words_of(words: str, answer: str | None) -> str:
    return f"{words}: {answer}" if answer else words


class Courier:
    """Sends messages. Thread-safe. Without `trust`, the system's CAs verify receivers."""

    def __init__(self, reach: Reach, trust: ssl.SSLContext | None = None) -> None:
        self._reach = reach
        self._given_trust = trust

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        """Load the CAs on first use, because this takes longer than the rest of the start."""
        return self._given_trust or ssl.create_default_context()

    def send(self, parcel: Parcel) -> AttemptOutcome:
        """Failures of the receiver are an outcome, not an exception."""
        if parcel.secrets is None:
            words = "the secrets of this channel cannot be decrypted, as IOTIDE_VAULT_KEY has changed: enter them again"
            return AttemptOutcome(Result.REFUSED, words)
        try:
            outcome = self._mail(parcel) if parcel.kind == "email" else self._post(parcel)
        except AddressForbiddenError as error:
            outcome = AttemptOutcome(Result.REFUSED, f"{error}: sending there is not allowed")
        except TimeoutError:
            outcome = AttemptOutcome(Result.TRY_AGAIN, f"no answer within {format_seconds(ANSWER_SECONDS)}")
        except HTTPException as error:  # its text repeats what came instead of HTTP
            outcome = AttemptOutcome(Result.TRY_AGAIN, f"no HTTP response ({type(error).__name__})", str(error))
        except (OSError, UnicodeError) as error:
            outcome = AttemptOutcome(Result.TRY_AGAIN, f"{type(error).__name__}: {error}")
        words, answer = (_safe(text, parcel.secrets) for text in (outcome.words, outcome.answer))
        return replace(outcome, words=words, answer=answer)

    def _post(self, parcel: Parcel) -> AttemptOutcome:
        secrets = parcel.secrets or {}
        headers = {"Content-Type": "application/json", "User-Agent": "iotide", "Connection": "close"}
        match parcel.kind:
            case "webhook":
                url, body = parcel.settings["url"], webhook_body(parcel)
                headers |= webhook_headers(parcel, secrets["secret"], body)
            case "slack":
                url, body = secrets["url"], slack_body(parcel)
            case _:
                url, body = secrets["url"], mattermost_body(parcel)
        parts = urlsplit(url)
        host, is_tls = parts.hostname or "", parts.scheme == "https"
        port = parts.port or (443 if is_tls else 80)
        with self._reach.line(host, port) as line:
            line.settimeout(ANSWER_SECONDS)
            connection = HTTPConnection(host, port)
            connection.sock = self._trust.wrap_socket(line, server_hostname=host) if is_tls else line
            try:
                connection.request("POST", f"{parts.path or '/'}{'?' * bool(parts.query)}{parts.query}", body, headers)
                response = connection.getresponse()
                said = response.read(_MOST_READ_BYTES).decode("utf-8", "replace")
            finally:
                connection.close()
        return http_outcome(response.status, said, response.headers.get("Retry-After"))

    def _mail(self, parcel: Parcel) -> AttemptOutcome:
        settings, secrets = parcel.settings, parcel.secrets or {}
        with self._reach.line(settings["host"], settings["port"]) as line:
            client: _Client | None = None
            try:
                if settings["tls"] == "tls":
                    client = _TlsClient(line, settings["host"], settings["port"], self._trust)
                else:
                    client = _Client(line, settings["host"], settings["port"])
                if settings["tls"] == "starttls":
                    client.starttls(context=self._trust)
                if settings["user"] is not None:
                    client.login(settings["user"], secrets["password"])
                refused = client.sendmail(settings["sender"], settings["recipients"], mail(parcel).as_bytes())
                with suppress(SMTPException, OSError):
                    client.quit()
            except (SMTPRecipientsRefused, SMTPResponseException, SMTPNotSupportedError) as error:
                return smtp_outcome(error)
            finally:
                if client is not None:
                    client.close()
        but = "".join(f"; not delivered to {name}: {_status(code)}" for name, (code, _) in refused.items())
        said = [_said(text) for _, text in (client.last_reply, *refused.values())]
        return AttemptOutcome(Result.DELIVERED, f"{_status(client.last_reply[0])}{but}", "; ".join(said))


class _Client(SMTP):
    last_reply: tuple[int, bytes] = (0, b"")

    def __init__(self, line: socket.socket, host: str, port: int) -> None:
        self._line = line
        super().__init__(host, port, timeout=ANSWER_SECONDS)

    def _get_socket(self, *_: object) -> socket.socket:
        self._line.settimeout(ANSWER_SECONDS)
        return self._line

    def data(self, msg: Any) -> tuple[int, bytes]:  # noqa: ANN401 - smtplib's own type
        """Keep the reply, in which servers name the mail."""
        self.last_reply = super().data(msg)
        return self.last_reply


class _TlsClient(SMTP_SSL, _Client):
    """`_Client` with TLS from the first byte."""

    def __init__(self, line: socket.socket, host: str, port: int, context: ssl.SSLContext) -> None:
        self._line = line
        SMTP_SSL.__init__(self, host, port, timeout=ANSWER_SECONDS, context=context)


def http_outcome(status: int, said: str, retry_after: str | None) -> AttemptOutcome:
    """Return the outcome of an HTTP response. Of the 4xx, only timeouts and rate limits are tried again."""
    if status in _OK:
        return AttemptOutcome(Result.DELIVERED, f"HTTP {status}")
    if status in _REDIRECTS:
        return AttemptOutcome(Result.REFUSED, f"HTTP {status}: redirects are not followed; use the final URL")
    words = f"HTTP {status} {_phrase(status)}".rstrip()
    if status in _REFUSALS and status not in _TRY_AGAIN_STATUSES:
        return AttemptOutcome(Result.REFUSED, words, said)
    asked = _SECONDS.fullmatch(retry_after or "")
    return AttemptOutcome(Result.TRY_AGAIN, words, said, None if asked is None else timedelta(seconds=int(asked[0])))


def smtp_outcome(error: SMTPRecipientsRefused | SMTPResponseException | SMTPNotSupportedError) -> AttemptOutcome:
    """Return the outcome of an SMTP error. Replies from 500 and missing features are final."""
    match error:
        case SMTPRecipientsRefused():
            replies = list(error.recipients.items())
            is_final = all(code >= _SMTP_PERMANENT for _, (code, _) in replies)
            words = "; ".join(f"{name}: {_status(code)}" for name, (code, _) in replies)
            answer = "; ".join(_said(text) for _, (_, text) in replies)
        case SMTPResponseException():
            is_final = error.smtp_code >= _SMTP_PERMANENT
            words, answer = _status(error.smtp_code), _said(error.smtp_error)
        case _:
            is_final, words, answer = True, str(error), ""
    return AttemptOutcome(Result.REFUSED if is_final else Result.TRY_AGAIN, words, answer)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _status(code: int) -> str:
    return f"SMTP {code}" if code > 0 else "not an SMTP reply"


def _said(text: bytes | str) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def _safe(words: str, secrets: Mapping[str, str]) -> str:
    """Return short words that are safe to show: one line, without a secret that the receiver repeated."""
    for secret in secrets.values():
        for hidden in (secret, urlsplit(secret).path):
            words = words.replace(hidden, "***") if len(hidden) >= _SHORTEST_SECRET else words
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in words).split())
    return plain if len(plain) <= _MOST_WORDS else f"{plain[:_MOST_WORDS]} ..."
