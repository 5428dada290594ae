"""Conversion of receivers' input to their stored form; pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from iotide_server.kit.db import Json
from iotide_server.kit.errors import InvalidInputError
from iotide_server.notifications.addresses import Reach
from iotide_server.notifications.errors import ADDRESS_REFUSED, CHANNEL_SECRET_MISSING
from iotide_server.notifications.models import Channel
from iotide_server.notifications.schemas import (
    Chat,
    Email,
    EmailInput,
    MailTls,
    MattermostInput,
    SlackInput,
    Webhook,
    WebhookInput,
)

Given = EmailInput | WebhookInput | SlackInput | MattermostInput

SECRETS: Final[Mapping[str, str]] = {"email": "password", "webhook": "secret", "slack": "url", "mattermost": "url"}

_SAME_ACCOUNT: Final = ("host", "port", "tls", "user")
_ENOUGH_SPLIT: Final = "write it as https://example.org/path"


@dataclass(frozen=True, slots=True)
class Receiver:
    settings: Json
    secrets: dict[str, str] | None  # None: keep the present ones


def receiver(given: Given, before: Channel | None, reach: Reach) -> Receiver:
    """Return the stored form of a receiver for the channel as it was `before`. Raise an InvalidInputError."""
    known = before if before is not None and before.kind == given.kind and before.sealed is not None else None
    match given:
        case EmailInput():
            return _email(given, known, reach)
        case WebhookInput():
            _check_url(given.url, "receiver.url", reach)
            settings = {"url": given.url}
            if given.secret is None:
                return _kept("secret", settings, known, "required to sign webhooks; the channel has none yet")
            return Receiver(settings, {"secret": given.secret})
        case _:
            if given.url is None:
                host = known.settings["host"] if known is not None else ""
                return _kept("url", {"host": host}, known, "required; the channel has none yet")
            return Receiver({"host": _check_url(given.url, "receiver.url", reach)}, {"url": given.url})


def shown(channel: Channel) -> Email | Webhook | Chat:
    settings, is_sealed = channel.settings, channel.sealed is not None
    match channel.kind:
        case "email":
            return Email(kind="email", has_password=is_sealed, **settings)
        case "webhook":
            return Webhook(kind="webhook", has_secret=is_sealed, **settings)
        case "slack":
            return Chat(kind="slack", has_url=is_sealed, **settings)
        case _:
            return Chat(kind="mattermost", has_url=is_sealed, **settings)


def _email(given: EmailInput, known: Channel | None, reach: Reach) -> Receiver:
    objection = reach.objection(given.host)
    if objection is not None:
        raise ADDRESS_REFUSED(field="receiver.host", host=given.host, why=objection)
    settings = given.model_dump(mode="json", exclude={"kind", "password"})
    if given.user is None:
        if given.password is not None:
            raise InvalidInputError(
                "receiver.user: required with a password", field="receiver.user", remedy="give receiver.user"
            )
        return Receiver(settings, {})
    if given.tls == MailTls.NONE:
        raise InvalidInputError(
            "receiver.tls: a password cannot be sent unencrypted",
            field="receiver.tls",
            value=given.tls,
            remedy="choose starttls or tls, or omit user and password",
        )
    if given.password is not None:
        return Receiver(settings, {"password": given.password})
    is_same = known is not None and all(known.settings[field] == settings[field] for field in _SAME_ACCOUNT)
    # Otherwise a user who may change the channel could send its password to another server.
    return _kept("password", settings, known if is_same else None, "required after a change of server or user")


def _kept(secret: str, settings: Json, known: Channel | None, why_not: str) -> Receiver:
    if known is None:
        raise CHANNEL_SECRET_MISSING(field=f"receiver.{secret}", why=why_not)
    return Receiver(settings, None)


def _check_url(url: str, field: str, reach: Reach) -> str:
    try:
        parts = urlsplit(url)
        host, has_user = parts.hostname, parts.username is not None
        is_sound = bool(host) and parts.port != 0
    except ValueError:
        host, has_user, is_sound = None, False, False
    if not is_sound or host is None:
        raise InvalidInputError(f"{field}: not a valid URL", field=field, remedy=_ENOUGH_SPLIT)
    if has_user:
        raise InvalidInputError(
            f"{field}: contains a user or password",
            field=field,
            remedy="omit them; the signature authenticates the message",
        )
    objection = reach.objection(host)
    if objection is not None:
        raise ADDRESS_REFUSED(field=field, host=host, why=objection)
    return host
