"""Events and actions between the protocol session and the driver."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from iotide_wire.endpoint import Endpoint, NamedEndpoint
from iotide_wire.messages import HeartbeatReply, Order, OrderRole, OrderState


class Stage(StrEnum):
    PREPARING = "preparing"
    READY = "ready"
    RELEASED = "released"
    RUNNING = "running"
    COLLECTING = "collecting"
    UPLOADING = "uploading"


WIRE_STATES = {
    Stage.PREPARING: OrderState.PREFLIGHT,
    Stage.READY: OrderState.READY,
    Stage.RELEASED: OrderState.READY,
    Stage.RUNNING: OrderState.RUNNING,
    Stage.COLLECTING: OrderState.UPLOADING,
    Stage.UPLOADING: OrderState.UPLOADING,
}
"""Names of the stages in a heartbeat."""


def first_stage(order: Order) -> Stage:
    """An observing order needs neither directories nor a start signal."""
    return Stage.RELEASED if order.role is OrderRole.OBSERVE else Stage.PREPARING


@dataclass(frozen=True, slots=True)
class _OfOrder:
    order_id: int


@dataclass(frozen=True, slots=True)
class _OfOffer:
    order_id: int
    fence: int


@dataclass(frozen=True, slots=True)
class Recovered:
    """Order found on disk at the agent's start; not an event, because hello must name all of them."""

    order_id: int
    fence: int
    stage: Stage


class OfferSeen(_OfOffer):
    """An offer arrived in the spool; it may be a copy, stale or forged."""


@dataclass(frozen=True, slots=True)
class Greeted:
    pass


@dataclass(frozen=True, slots=True)
class GreetingRefused:
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class HeartbeatRefused:
    number: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class GreetingUnanswered:
    pass


@dataclass(frozen=True, slots=True)
class HeartbeatAnswered:
    """`is_rotated`: restart processes that use the old credentials."""

    number: int
    reply: HeartbeatReply
    is_rotated: bool = False


@dataclass(frozen=True, slots=True)
class HeartbeatUnanswered:
    number: int


@dataclass(frozen=True, slots=True)
class Claimed:
    order: Order


class ClaimRefused(_OfOffer):
    """Another agent has the order, it was withdrawn, or the offer was stale or forged."""


class ClaimUnanswered(_OfOffer):
    """The claim may have succeeded."""


class Prepared(_OfOrder):
    """The runner created its directories and waits for the start signal."""


class LoadStarted(_OfOrder):
    pass


class RunnerEnded(_OfOrder):
    pass


class ResultReady(_OfOrder):
    pass


class Acknowledged(_OfOrder):
    """The server has the result, or no longer needs it."""


class UploadFailed(_OfOrder):
    pass


@dataclass(frozen=True, slots=True)
class WorkerEnded:
    pass


@dataclass(frozen=True, slots=True)
class FactsChanged:
    """Something was mounted, unmounted or installed."""


@dataclass(frozen=True, slots=True)
class Tick:
    pass


OnGreeting = Greeted | GreetingRefused | GreetingUnanswered | FactsChanged
OnHeartbeat = HeartbeatAnswered | HeartbeatRefused | HeartbeatUnanswered
OnOffer = OfferSeen | ClaimRefused | ClaimUnanswered
OnOrder = Prepared | LoadStarted | RunnerEnded | ResultReady | Acknowledged | UploadFailed
Event = OnGreeting | OnHeartbeat | OnOffer | OnOrder | Claimed | WorkerEnded | Tick


@dataclass(frozen=True, slots=True)
class Greet:
    """Send hello with the held orders. `look` is the server's request for an inventory.

    An inventory is never taken while orders are held, because it would disturb the measurement.
    """

    holds: tuple[tuple[int, int], ...]
    look: int | None = None


@dataclass(frozen=True, slots=True)
class ReportedOrder:
    """An order's part of a heartbeat; `go_heard` is the proposed time of its start."""

    order_id: int
    stage: Stage
    go_heard: datetime | None = None


@dataclass(frozen=True, slots=True)
class SendHeartbeat:
    number: int
    orders: tuple[ReportedOrder, ...]


class Claim(_OfOffer):
    pass


class DropOffer(_OfOffer):
    pass


@dataclass(frozen=True, slots=True)
class Prepare:
    order: Order


@dataclass(frozen=True, slots=True)
class Release:
    """Start a prepared load at a time of the server's clock (None: now), with the endpoints of the other nodes."""

    order_id: int
    go_at: datetime | None
    # Both have tokens.
    endpoint: Endpoint | None = field(default=None, repr=False)
    members: tuple[NamedEndpoint, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Cancel:
    order_id: int
    reason: str


class Collect(_OfOrder):
    pass


class Upload(_OfOrder):
    pass


class Forget(_OfOrder):
    pass


@dataclass(frozen=True, slots=True)
class StartWorker:
    pass


@dataclass(frozen=True, slots=True)
class Stop:
    """End the agent; first end its loads if the server gave their orders to another agent."""

    code: str
    message: str
    end_loads: bool


Action = (
    Greet
    | SendHeartbeat
    | Claim
    | DropOffer
    | Prepare
    | Release
    | Cancel
    | Collect
    | Upload
    | Forget
    | StartWorker
    | Stop
)
