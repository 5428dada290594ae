"""What happens to a session and what it asks for: the words between the pure machine and the driver that acts."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from iotide_wire.endpoint import Endpoint
from iotide_wire.messages import BeatReply, Order, OrderRole, OrderState


class Stage(StrEnum):
    """How far the agent is with an order that it holds."""

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
"""What a beat calls each stage."""


def first_stage(order: Order) -> Stage:
    """Of an order that was just claimed; one that only observes needs neither a place nor leave to start."""
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
    """An order that the agent found on its disk at its start; no event, since hello must name all of them."""

    order_id: int
    fence: int
    stage: Stage


class OfferSeen(_OfOffer):
    """An offer lies in the spool; it may be a copy, stale or forged."""


@dataclass(frozen=True, slots=True)
class Greeted:
    """The server accepted this agent."""


@dataclass(frozen=True, slots=True)
class GreetingRefused:
    """The server answered hello with a 4xx."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class BeatRefused:
    """The server answered the beat with that number with a 4xx."""

    number: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class GreetingUnanswered:
    """No answer to hello."""


@dataclass(frozen=True, slots=True)
class Beaten:
    """The answer to the beat with that number; `is_rotated`: start anew what uses the node's old credentials."""

    number: int
    reply: BeatReply
    is_rotated: bool = False


@dataclass(frozen=True, slots=True)
class BeatUnanswered:
    """No answer to the beat with that number."""

    number: int


@dataclass(frozen=True, slots=True)
class Claimed:
    """The order is ours and is on our disk."""

    order: Order


class ClaimRefused(_OfOffer):
    """Somebody else has the order, it was withdrawn, or the offer was stale or forged."""


class ClaimUnanswered(_OfOffer):
    """No answer to a claim; it may have succeeded all the same."""


class Prepared(_OfOrder):
    """The runner made its places and waits for leave to start."""


class LoadStarted(_OfOrder):
    """The runner started its first load."""


class RunnerEnded(_OfOrder):
    """The runner is gone and its last word is on the disk."""


class ResultReady(_OfOrder):
    """The result of an order is on the disk."""


class Acknowledged(_OfOrder):
    """The server has the result, or does not want it any more."""


class UploadFailed(_OfOrder):
    """The server did not take all of a result yet."""


@dataclass(frozen=True, slots=True)
class WorkerEnded:
    """The Celery worker died."""


@dataclass(frozen=True, slots=True)
class FactsChanged:
    """Something was mounted, unmounted or installed."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed."""


OnGreeting = Greeted | GreetingRefused | GreetingUnanswered | FactsChanged
OnBeat = Beaten | BeatRefused | BeatUnanswered
OnOffer = OfferSeen | ClaimRefused | ClaimUnanswered
OnOrder = Prepared | LoadStarted | RunnerEnded | ResultReady | Acknowledged | UploadFailed
Event = OnGreeting | OnBeat | OnOffer | OnOrder | Claimed | WorkerEnded | Tick


@dataclass(frozen=True, slots=True)
class Greet:
    """Say hello, with the orders held; for the server's request `look` look around before.

    Never while orders are held, since it would disturb what they measure.
    """

    holds: tuple[tuple[int, int], ...]
    look: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What a beat says of an order; `go_heard` is the moment that was proposed for its start."""

    order_id: int
    stage: Stage
    go_heard: datetime | None = None


@dataclass(frozen=True, slots=True)
class Beat:
    """Send a beat that says this."""

    number: int
    orders: tuple[Told, ...]


class Claim(_OfOffer):
    """Ask for the order behind an offer."""


class DropOffer(_OfOffer):
    """Remove an offer from the spool."""


@dataclass(frozen=True, slots=True)
class Prepare:
    """Start the runner of an order."""

    order: Order


@dataclass(frozen=True, slots=True)
class Release:
    """Let a prepared load start at that moment of the server's clock (None: at once) and send to the endpoint."""

    order_id: int
    go_at: datetime | None
    endpoint: Endpoint | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    """Have the runner end its load and remove its files."""

    order_id: int
    reason: str


class Collect(_OfOrder):
    """Make a result of what the runner left."""


class Upload(_OfOrder):
    """Send raw output and result."""


class Forget(_OfOrder):
    """Remove all that is kept of an order."""


@dataclass(frozen=True, slots=True)
class StartWorker:
    """Start the Celery worker, ending the one that may still run."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End the agent, and first the loads if the server has given their orders to somebody else."""

    code: str
    message: str
    end_loads: bool


Action = Greet | Beat | Claim | DropOffer | Prepare | Release | Cancel | Collect | Upload | Forget | StartWorker | Stop
