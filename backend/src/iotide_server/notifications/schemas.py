"""Schemas of channels; secrets are accepted but never returned."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from iotide_server.kit.web import Input, Output
from iotide_server.notifications.messages import MessageKind
from iotide_wire.base import Name
from iotide_wire.window import TimeZone, Window

ChannelName = Annotated[Name, Field(examples=["storage-team"])]
Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,253}$", examples=["mail.example.org"])]
Port = Annotated[int, Field(ge=1, le=65535, examples=[587])]
MailAddress = Annotated[
    str,
    Field(
        max_length=254,
        pattern=r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$",
        examples=["storage@example.org"],
    ),
]
Url = Annotated[str, Field(pattern=r"^https?://[!-~]{1,1990}$", examples=["https://example.org/hooks/iotide"])]
Words = Annotated[
    str,
    Field(
        description="Status or error; for admins of all clusters with the text of the response",
        examples=["HTTP 200"],
    ),
]
ClusterId = Annotated[int, Field(ge=1, le=2**63 - 1, examples=[1])]

_SIGNING_KEY: Final = r"^whsec_([A-Za-z0-9+/]{4}){7,21}([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$"


class MailTls(StrEnum):
    """Encryption of the connection to a mail server: after STARTTLS, from the first byte, or none."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


class EmailInput(Input):
    """E-mail through a mail server; a null `password` keeps the present one, for the same server and user."""

    kind: Literal["email"]
    host: Host
    port: Port = 587
    tls: MailTls = MailTls.STARTTLS
    user: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    password: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    sender: MailAddress
    recipients: Annotated[list[MailAddress], Field(min_length=1, max_length=50)]


class WebhookInput(Input):
    """POST of JSON, signed as in Standard Webhooks; a null `secret` keeps the present one."""

    kind: Literal["webhook"]
    url: Url
    secret: (
        Annotated[
            str,
            Field(
                pattern=_SIGNING_KEY,
                description="`whsec_` and 24 to 64 random bytes in base64",
                examples=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
            ),
        ]
        | None
    ) = None


class SlackInput(Input):
    """Incoming webhook of Slack; its URL is a secret, and null keeps the present one."""

    kind: Literal["slack"]
    url: Url | None = None


class MattermostInput(Input):
    """Incoming webhook of Mattermost; its URL is a secret, and null keeps the present one."""

    kind: Literal["mattermost"]
    url: Url | None = None


ReceiverInput = Annotated[
    EmailInput | WebhookInput | SlackInput | MattermostInput,
    Field(discriminator="kind", description="Receiver of the messages"),
]


class Digest(Input):
    """Weekday, hour and time zone of the weekly digest."""

    weekday: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    hour: Annotated[int, Field(ge=0, le=23, examples=[8])]
    time_zone: TimeZone


class ChannelChange(Input):
    """Changeable fields of a channel."""

    name: ChannelName
    receiver: ReceiverInput
    quiet_hours: Annotated[Window | None, Field(description="Hours in which only tests are sent")] = None
    digest: Annotated[Digest | None, Field(description="Null: no weekly digest")] = None


class ChannelInput(ChannelChange):
    """New channel; it gets messages of one cluster, or of all clusters if `cluster_id` is null."""

    cluster_id: ClusterId | None = None


class Email(Output):
    kind: Literal["email"]
    host: str
    port: int
    tls: MailTls
    user: str | None
    has_password: bool
    sender: str
    recipients: list[str]


class Webhook(Output):
    kind: Literal["webhook"]
    url: str
    has_secret: bool


class Chat(Output):
    """Incoming webhook of a chat; its URL is a secret, and only the host is shown."""

    kind: Literal["slack", "mattermost"]
    host: str
    has_url: bool


class ChannelOutput(Output):
    """Channel to users or to a program.

    `failed_at` and `failure` are of the last failed attempt, `delivered_at` of the last successful one.
    """

    id: int
    name: ChannelName
    cluster_id: Annotated[int | None, Field(description="Only messages of this cluster; null: of all clusters")]
    cluster_name: str | None
    receiver: Annotated[Email | Webhook | Chat, Field(discriminator="kind")]
    quiet_hours: Window | None
    digest: Digest | None
    digest_due_at: datetime | None
    created_at: datetime
    delivered_at: datetime | None
    failed_at: datetime | None
    failure: Annotated[str | None, Field(examples=["HTTP 503 Service Unavailable"])]


class DeliveryState(StrEnum):
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


class DeliveryAttempt(Output):
    """Attempt; `words` is null while it is in progress, or if its outcome is unknown."""

    at: datetime
    words: Words | None


class DeliveryOutput(Output):
    """Message through a channel; `due_at` is the time of the next attempt, null if there is none."""

    id: int
    kind: MessageKind
    cluster_id: int | None
    subject: str
    text: str
    path: Annotated[str, Field(description="Page of its subject in the dashboard", examples=["/alerts/12"])]
    state: DeliveryState
    created_at: datetime
    due_at: datetime | None
    ended_at: datetime | None
    attempts: list[DeliveryAttempt]


class TestOutcome(Output):
    delivered: bool
    words: Words
