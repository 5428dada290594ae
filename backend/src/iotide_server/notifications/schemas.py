"""What the API takes and gives for channels. Secrets go in and never come out."""

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
        description="The status, or what was in the way; for administrators of all clusters with the answer's text",
        examples=["HTTP 200"],
    ),
]
ClusterId = Annotated[int, Field(ge=1, le=2**63 - 1, examples=[1])]

_SIGNING_KEY: Final = r"^whsec_([A-Za-z0-9+/]{4}){7,21}([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$"


class MailTls(StrEnum):
    """How a mail server is spoken to: TLS after a greeting, from the first byte on, or none."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


class EmailInput(Input):
    """E-mail through a mail server; `password` null keeps the one there is, for the same server and user."""

    kind: Literal["email"]
    host: Host
    port: Port = 587
    tls: MailTls = MailTls.STARTTLS
    user: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    password: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    sender: MailAddress
    recipients: Annotated[list[MailAddress], Field(min_length=1, max_length=50)]


class WebhookInput(Input):
    """A POST of JSON with a signature as Standard Webhooks; `secret` null keeps the one there is."""

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
    """An incoming webhook of Slack; its address is a secret, and null keeps the one there is."""

    kind: Literal["slack"]
    url: Url | None = None


class MattermostInput(Input):
    """An incoming webhook of Mattermost; its address is a secret, and null keeps the one there is."""

    kind: Literal["mattermost"]
    url: Url | None = None


ReceiverInput = Annotated[
    EmailInput | WebhookInput | SlackInput | MattermostInput, Field(discriminator="kind", description="Where it goes")
]


class Digest(Input):
    """When the weekly digest comes, by the clocks of a place."""

    weekday: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    hour: Annotated[int, Field(ge=0, le=23, examples=[8])]
    time_zone: TimeZone


class ChannelChange(Input):
    """A channel with all that can be changed of it."""

    name: ChannelName
    receiver: ReceiverInput
    quiet_hours: Annotated[Window | None, Field(description="Only tests are sent in them")] = None
    digest: Annotated[Digest | None, Field(description="Null: no weekly digest")] = None


class ChannelInput(ChannelChange):
    """A new channel; it tells of one cluster, or of all where `cluster_id` is null."""

    cluster_id: ClusterId | None = None


class Email(Output):
    """E-mail through a mail server."""

    kind: Literal["email"]
    host: str
    port: int
    tls: MailTls
    user: str | None
    has_password: bool
    sender: str
    recipients: list[str]


class Webhook(Output):
    """A signed POST of JSON."""

    kind: Literal["webhook"]
    url: str
    has_secret: bool


class Chat(Output):
    """An incoming webhook of a chat; of its address, which is a secret, only the host is told."""

    kind: Literal["slack", "mattermost"]
    host: str
    has_url: bool


class ChannelOutput(Output):
    """A way to people or to a program of theirs.

    `failed_at` and `failure` say when an attempt last failed and why, `delivered_at` when one last succeeded.
    """

    id: int
    name: ChannelName
    cluster_id: Annotated[int | None, Field(description="It tells of this cluster alone; null: of all")]
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
    """What became of a message."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


class DeliveryAttempt(Output):
    """One try; `words` is null while it is under way, or where nobody came back to say."""

    at: datetime
    words: Words | None


class DeliveryOutput(Output):
    """One message through one channel; `due_at` is of the next attempt, null where there is none."""

    id: int
    kind: MessageKind
    cluster_id: int | None
    subject: str
    text: str
    path: Annotated[str, Field(description="Where the dashboard shows what it is about", examples=["/alerts/12"])]
    state: DeliveryState
    created_at: datetime
    due_at: datetime | None
    ended_at: datetime | None
    attempts: list[DeliveryAttempt]


class TestOutcome(Output):
    """What came of a test."""

    delivered: bool
    words: Words
