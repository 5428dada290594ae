"""Messages in the form of each kind of channel; pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Final

from standardwebhooks import Webhook

from iotide_server.kit.db import Json
from iotide_server.notifications.messages import Message

_SPACE: Final = re.compile(r"\s+")
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~])")
_UNSEEN: Final = "\u200b"  # zero-width space that keeps @all from being a mention


@dataclass(frozen=True, slots=True)
class Parcel:
    kind: str
    # settings, secrets: `secrets` is None if they cannot be decrypted
    settings: Json
    secrets: Mapping[str, str] | None
    message: Message
    message_id: str
    url: str
    created_at: datetime  # of the message; sent_at: of this attempt
    sent_at: datetime


def webhook_body(parcel: Parcel) -> bytes:
    message = parcel.message
    body = {
        "type": message.kind,
        "timestamp": parcel.created_at.isoformat(),
        "cluster_id": message.cluster_id,
        "subject": message.subject,
        "text": message.text,
        "url": parcel.url,
        "data": message.data,
    }
    return json.dumps(body).encode()


def webhook_headers(parcel: Parcel, secret: str, body: bytes) -> dict[str, str]:
    """Return the headers that authenticate the body (https://www.standardwebhooks.com, symmetric, `v1`)."""
    return {
        "webhook-id": parcel.message_id,
        "webhook-timestamp": str(int(parcel.sent_at.timestamp())),
        "webhook-signature": Webhook(secret).sign(parcel.message_id, parcel.sent_at, body.decode()),
    }


def slack_body(parcel: Parcel) -> bytes:
    """Return Slack's mrkdwn; https://api.slack.com/reference/surfaces/formatting lists what to escape."""
    message = parcel.message

    def plain(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    text = f"*{plain(message.subject)}*\n{plain(message.text)}\n<{parcel.url}|Open in iotide>"
    return json.dumps({"text": text, "unfurl_links": False}).encode()


def mattermost_body(parcel: Parcel) -> bytes:
    message = parcel.message

    def plain(text: str) -> str:
        return _MARKDOWN.sub(r"\\\1", text).replace("@", f"@{_UNSEEN}")

    lines = [f"**{plain(message.subject)}**", *map(plain, message.text.splitlines()), f"[Open in iotide]({parcel.url})"]
    return json.dumps({"text": "  \n".join(lines)}).encode()


def mail(parcel: Parcel) -> EmailMessage:
    message, settings = parcel.message, parcel.settings
    made = EmailMessage()
    made["From"] = settings["sender"]
    made["To"] = ", ".join(settings["recipients"])
    made["Subject"] = _SPACE.sub(" ", f"[iotide] {message.subject}").strip()
    made["Date"] = format_datetime(parcel.created_at)
    made["Message-ID"] = f"<{parcel.message_id}@{settings['sender'].rpartition('@')[2]}>"
    # Prevents automatic replies: https://datatracker.ietf.org/doc/html/rfc3834.
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(f"{message.text}\n\n{parcel.url}\n")
    return made
