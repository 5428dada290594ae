"""Protocol state machine under lost, duplicated and late messages in any order."""

from dataclasses import dataclass, field

from agent.made_orders import make_order
from agent.session_words import reply, word
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from iotide_agent.core.protocol import (
    Acknowledged,
    Action,
    Cancel,
    Claim,
    Claimed,
    ClaimRefused,
    ClaimUnanswered,
    Collect,
    Event,
    Forget,
    Greeted,
    HeartbeatAnswered,
    HeartbeatUnanswered,
    LoadStarted,
    OfferSeen,
    Prepare,
    Prepared,
    Release,
    ResultReady,
    RunnerEnded,
    Tick,
    Upload,
    UploadFailed,
    WorkerEnded,
)
from iotide_agent.core.session import Session
from iotide_wire.messages import Word


@dataclass
class Life:
    """Actions that the state machine requested for one order."""

    prepared: int = 0
    released: int = 0
    cancelled: int = 0
    forgotten: int = 0
    was_ready: bool = False
    is_acknowledged: bool = False
    is_unknown: bool = False
    asked: list[str] = field(default_factory=list)


IDS = st.sampled_from([1, 2])


class AnyOrder(RuleBasedStateMachine):
    """Events in any order: duplicated, late or unsolicited."""

    def __init__(self) -> None:
        super().__init__()
        self.session = Session()
        self.now = 0.0
        self.lives = {1: Life(), 2: Life()}
        self.claims: set[int] = set()

    def say(self, event: Event) -> None:
        for action in self.session.handle(event, self.now):
            self.check(action)

    def check(self, action: Action) -> None:
        match action:
            case Claim(order_id=order_id):
                assert order_id not in self.claims, "two claims of one order under way"
                self.claims.add(order_id)
            case Prepare(order=found):
                life = self.lives[found.order_id]
                life.prepared += 1
                assert life.prepared == 1
            case Release(order_id=order_id):
                life = self.lives[order_id]
                life.released += 1
                assert life.was_ready
                assert life.released == 1
                assert life.cancelled == 0
            case Cancel(order_id=order_id):
                self.lives[order_id].cancelled += 1
                assert self.lives[order_id].cancelled == 1
            case Forget(order_id=order_id):
                life = self.lives[order_id]
                life.forgotten += 1
                assert life.forgotten == 1
                assert life.is_acknowledged or life.is_unknown
            case Collect(order_id=order_id) | Upload(order_id=order_id):
                assert self.lives[order_id].forgotten == 0
            case _:
                pass

    @rule(seconds=st.floats(0.0, 120.0))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.say(Tick())

    @rule()
    def greeted(self) -> None:
        self.say(Greeted())

    @rule(order_id=IDS)
    def offered(self, order_id: int) -> None:
        self.say(OfferSeen(order_id, order_id * 10))

    @rule(order_id=IDS, outcome=st.sampled_from(["claimed", "refused", "lost"]))
    def claim_answered(self, order_id: int, outcome: str) -> None:
        if order_id not in self.claims and outcome != "claimed":
            return  # the driver answers each claim once; only the server's answers may arrive twice
        self.claims.discard(order_id)
        events: dict[str, Event] = {
            "claimed": Claimed(make_order(order_id)),
            "refused": ClaimRefused(order_id, order_id * 10),
            "lost": ClaimUnanswered(order_id, order_id * 10),
        }
        self.say(events[outcome])

    @rule(order_id=IDS)
    def prepared(self, order_id: int) -> None:
        if self.lives[order_id].prepared:
            self.lives[order_id].was_ready = True
        self.say(Prepared(order_id))

    @rule(order_id=IDS, late_by=st.integers(0, 3), said=st.sampled_from(list(Word)), fence=st.sampled_from([10, 20]))
    def heartbeat_answered(self, order_id: int, late_by: int, said: Word, fence: int) -> None:
        number = self.session._heartbeat_number - late_by
        if said is Word.UNKNOWN and fence == order_id * 10:
            self.lives[order_id].is_unknown = True
        self.say(HeartbeatAnswered(number, reply(word(said, order_id, fence))))

    @rule()
    def heartbeat_lost(self) -> None:
        self.say(HeartbeatUnanswered(self.session._heartbeat_number))

    @rule(order_id=IDS, event=st.sampled_from([LoadStarted, RunnerEnded, ResultReady, UploadFailed]))
    def event_of_an_order(
        self, order_id: int, event: type[LoadStarted] | type[RunnerEnded] | type[ResultReady] | type[UploadFailed]
    ) -> None:
        self.say(event(order_id))

    @rule(order_id=IDS)
    def acknowledged(self, order_id: int) -> None:
        self.lives[order_id].is_acknowledged = True
        self.say(Acknowledged(order_id))

    @rule()
    def worker_ended(self) -> None:
        self.say(WorkerEnded())

    @invariant()
    def never_asks_for_a_tick_that_changes_nothing(self) -> None:
        self.say(Tick())
        assert self.session.next_at() > self.now


AnyOrder.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestAnyOrder = AnyOrder.TestCase
