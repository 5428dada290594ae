"""Protocol state machine, tested by tables of transitions."""

from datetime import timedelta

import pytest
from agent.made_orders import make_order
from agent.session_words import GO_AT, reply, word

from iotide_agent.core.protocol import (
    Acknowledged,
    Action,
    Cancel,
    Claim,
    Claimed,
    ClaimRefused,
    ClaimUnanswered,
    Collect,
    DropOffer,
    Event,
    FactsChanged,
    Forget,
    Greet,
    Greeted,
    GreetingRefused,
    GreetingUnanswered,
    HeartbeatAnswered,
    HeartbeatRefused,
    LoadStarted,
    OfferSeen,
    Prepare,
    Prepared,
    Recovered,
    Release,
    ReportedOrder,
    ResultReady,
    RunnerEnded,
    SendHeartbeat,
    Stage,
    StartWorker,
    Stop,
    Tick,
    Upload,
    UploadFailed,
    WorkerEnded,
)
from iotide_agent.core.session import Session
from iotide_wire.endpoint import Endpoint
from iotide_wire.messages import OrderWord, Word


class Talk:
    """Session with a clock that the test moves."""

    def __init__(self, *recovered: Recovered) -> None:
        self.session = Session(recovered)
        self.now = 1000.0

    def say(self, event: Event, after_seconds: float = 0.0) -> list[Action]:
        self.now += after_seconds
        return self.session.handle(event, self.now)

    def greeted(self) -> "Talk":
        self.say(Tick())
        self.say(Greeted())
        return self

    def answer(self, *words: OrderWord, number: int | None = None, **more: object) -> list[Action]:
        """Answer the pending heartbeat."""
        found = number if number is not None else self.session._heartbeat_number
        return self.say(HeartbeatAnswered(found, reply(*words, **more)))

    def holding(self, stage: Stage) -> "Talk":
        """Bring order 1 to a stage, with no heartbeat pending."""
        self.greeted()
        self.answer()
        self.say(OfferSeen(1, 10))
        steps: list[tuple[Stage, Event]] = [
            (Stage.PREPARING, Claimed(make_order())),
            (Stage.READY, Prepared(1)),
            (Stage.RELEASED, Tick()),
            (Stage.RUNNING, LoadStarted(1)),
            (Stage.COLLECTING, RunnerEnded(1)),
            (Stage.UPLOADING, ResultReady(1)),
        ]
        for reached, event in steps:
            if reached is Stage.RELEASED:
                self.answer(word(Word.GO))
            self.say(event)
            if reached is stage:
                break
        self.answer()
        return self


def test_the_first_thing_is_a_hello_with_all_that_is_held() -> None:
    talk = Talk(Recovered(1, 10, Stage.RUNNING), Recovered(2, 20, Stage.UPLOADING))
    assert talk.say(Tick()) == [Greet(((1, 10), (2, 20)))]


def test_a_refused_copy_takes_no_wake_ups_from_its_original() -> None:
    talk = Talk()
    talk.say(Tick())
    said = talk.say(GreetingRefused("agent_already_running", "another agent is running"))
    said += talk.say(Tick(), after_seconds=20.0)
    assert StartWorker() not in said
    assert StartWorker() in talk.say(Greeted())


def test_nothing_is_claimed_or_sent_before_the_server_answered_the_hello() -> None:
    talk = Talk(Recovered(2, 20, Stage.UPLOADING))
    talk.say(Tick())
    assert talk.say(OfferSeen(1, 10)) == []
    actions = talk.say(Greeted())
    assert Claim(1, 10) in actions
    assert Upload(2) in actions
    assert SendHeartbeat(1, (ReportedOrder(2, Stage.UPLOADING),)) in actions


def test_a_hello_without_answer_is_repeated_ever_more_slowly() -> None:
    talk = Talk()
    talk.say(Tick())
    waits = []
    for _ in range(7):
        talk.say(GreetingUnanswered())
        waits.append(talk.session.next_at() - talk.now)
        assert talk.say(Tick(), after_seconds=waits[-1]) == [Greet(())]
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_an_observing_order_waits_for_no_start_signal_and_ends_with_a_cancel() -> None:
    talk = Talk().greeted()
    talk.answer()
    talk.say(OfferSeen(1, 10))
    observing = make_order(role="observe", targets=())
    assert talk.say(Claimed(observing)) == [Prepare(observing), DropOffer(1, 10)]
    assert talk.say(LoadStarted(1)) == [SendHeartbeat(2, (ReportedOrder(1, Stage.RUNNING),))]
    assert talk.answer(word(Word.CANCEL)) == [Cancel(1, "cancelled by the server")]
    assert talk.say(RunnerEnded(1)) == [Collect(1)]


def test_an_order_goes_from_offer_to_forgotten() -> None:
    talk = Talk().greeted()
    talk.answer()
    assert talk.say(OfferSeen(1, 10)) == [Claim(1, 10)]
    assert talk.say(Claimed(make_order())) == [Prepare(make_order()), DropOffer(1, 10)]
    assert talk.say(Prepared(1)) == [SendHeartbeat(2, (ReportedOrder(1, Stage.READY),))]
    assert talk.answer(word(Word.GO)) == [Release(1, GO_AT)]
    assert talk.say(LoadStarted(1)) == [SendHeartbeat(3, (ReportedOrder(1, Stage.RUNNING),))]
    assert talk.answer(word(Word.CONTINUE)) == []
    assert talk.say(RunnerEnded(1)) == [Collect(1)]
    assert talk.say(ResultReady(1)) == [Upload(1)]
    assert talk.say(Acknowledged(1)) == [Forget(1)]
    assert talk.session.holds() == ()


def test_a_sender_is_released_towards_the_endpoint_that_came_with_go() -> None:
    endpoint = Endpoint(address="10.1.0.7", ports=(40_001,), token="ab" * 16)
    talk = Talk().holding(Stage.PREPARING)
    talk.say(Prepared(1))
    go = word(Word.GO).model_copy(update={"endpoint": endpoint})
    assert talk.answer(go) == [Release(1, GO_AT, endpoint)]


def test_a_proposed_start_time_is_confirmed_at_once_and_starts_nothing() -> None:
    talk = Talk().holding(Stage.PREPARING)
    talk.say(Prepared(1))
    proposed = word(Word.CONTINUE).model_copy(update={"go_at": GO_AT})
    said = (ReportedOrder(1, Stage.READY, GO_AT),)
    assert [action.orders for action in talk.answer(proposed) if isinstance(action, SendHeartbeat)] == [said]
    assert talk.answer(proposed) == []
    later = GO_AT + timedelta(seconds=6)
    (again,) = talk.say(Tick(), after_seconds=1.0)
    assert isinstance(again, SendHeartbeat)
    assert again.orders == said
    (put_off,) = talk.answer(proposed.model_copy(update={"go_at": later}))
    assert isinstance(put_off, SendHeartbeat)
    assert put_off.orders == (ReportedOrder(1, Stage.READY, later),)
    assert talk.answer(word(Word.GO)) == [Release(1, GO_AT)]


def test_a_duplicate_offer_is_dropped_and_triggers_a_heartbeat_at_once() -> None:
    talk = Talk().holding(Stage.RUNNING)
    assert talk.say(OfferSeen(1, 10)) == [DropOffer(1, 10), SendHeartbeat(4, (ReportedOrder(1, Stage.RUNNING),))]


def test_an_offer_of_an_order_that_is_done_is_not_claimed_again() -> None:
    talk = Talk().holding(Stage.UPLOADING)
    talk.say(Acknowledged(1))
    assert Claim(1, 10) not in talk.say(OfferSeen(1, 10))


def test_a_refused_claim_is_given_up_and_a_lost_one_repeated() -> None:
    talk = Talk().greeted()
    talk.say(OfferSeen(1, 10))
    talk.say(OfferSeen(2, 20))
    assert talk.say(ClaimRefused(1, 10)) == [DropOffer(1, 10)]
    assert talk.say(ClaimUnanswered(2, 20)) == []
    assert talk.say(Tick(), after_seconds=0.5) == [Claim(2, 20)]


def test_go_starts_nothing_before_ready_and_nothing_twice() -> None:
    talk = Talk().holding(Stage.PREPARING)
    talk.say(Tick(), after_seconds=1.0)
    assert talk.answer(word(Word.GO)) == []
    talk.say(Prepared(1))
    assert talk.answer(word(Word.GO)) == [Release(1, GO_AT)]
    talk.say(Tick(), after_seconds=1.0)
    assert talk.answer(word(Word.GO)) == []


def test_answers_for_another_fence_are_ignored() -> None:
    talk = Talk().holding(Stage.READY)
    talk.say(Tick(), after_seconds=1.0)
    assert talk.answer(word(Word.GO, fence=11), word(Word.CANCEL, fence=11), word(Word.UNKNOWN, fence=11)) == []


def test_cancel_is_acted_on_once_and_never_followed_by_go() -> None:
    talk = Talk().holding(Stage.READY)
    talk.say(Tick(), after_seconds=1.0)
    assert [type(action) for action in talk.answer(word(Word.CANCEL))] == [Cancel]
    talk.say(Tick(), after_seconds=1.0)
    assert talk.answer(word(Word.CANCEL), word(Word.GO)) == []


def test_an_unknown_order_is_stopped_and_forgotten_without_a_result() -> None:
    talk = Talk().holding(Stage.RUNNING)
    talk.say(Tick(), after_seconds=1.0)
    assert [type(action) for action in talk.answer(word(Word.UNKNOWN))] == [Cancel]
    assert talk.say(RunnerEnded(1)) == [Forget(1)]


def test_a_result_is_sent_though_the_order_became_unknown() -> None:
    talk = Talk().holding(Stage.UPLOADING)
    talk.say(UploadFailed(1))
    talk.say(Tick(), after_seconds=5.0)
    assert talk.answer(word(Word.UNKNOWN)) == []


def test_an_upload_is_repeated_until_acknowledged() -> None:
    talk = Talk().holding(Stage.UPLOADING)
    assert talk.say(UploadFailed(1)) == []
    assert talk.say(Tick(), after_seconds=0.5) == [Upload(1)]
    assert Upload(1) not in talk.say(Tick(), after_seconds=100.0)
    assert talk.say(Acknowledged(1)) == [Forget(1)]


def test_a_late_answer_to_an_old_heartbeat_is_ignored() -> None:
    talk = Talk().holding(Stage.READY)
    talk.say(Tick(), after_seconds=1.0)
    assert talk.answer(word(Word.GO), number=1) == []


def test_the_server_sets_the_heartbeat_interval_but_not_below_a_second() -> None:
    talk = Talk().greeted()
    for wanted_seconds, wait_seconds in ((5.0, 5.0), (10.0, 10.0), (0.0, 1.0)):
        talk.answer(beat_seconds=wanted_seconds)
        assert talk.session.next_at() - talk.now == wait_seconds
        talk.say(Tick(), after_seconds=wait_seconds)


def test_a_deaf_worker_is_replaced_but_not_again_at_once() -> None:
    talk = Talk().greeted()
    talk.now += 31.0
    assert talk.answer(oldest_offer_seconds=16.0) == [StartWorker()]
    talk.say(Tick(), after_seconds=5.0)
    assert talk.answer(oldest_offer_seconds=21.0) == []


def test_a_worker_is_not_deaf_while_its_offer_waits_here() -> None:
    talk = Talk().greeted()
    talk.now += 31.0
    talk.say(OfferSeen(1, 10))
    assert StartWorker() not in talk.answer(oldest_offer_seconds=16.0)


def test_a_worker_that_keeps_dying_is_started_ever_more_slowly() -> None:
    talk = Talk().greeted()
    talk.answer()
    for wait_seconds in (1.0, 2.0, 4.0):
        talk.say(WorkerEnded())
        assert StartWorker() not in talk.say(Tick(), after_seconds=wait_seconds - 0.1)
        assert StartWorker() in talk.say(Tick(), after_seconds=0.1)


def test_another_agent_is_believed_only_after_a_while() -> None:
    talk = Talk()
    talk.say(Tick())
    assert talk.say(GreetingRefused("agent_already_running", "another agent is running")) == []
    talk.say(Tick(), after_seconds=46.0)
    refused = talk.say(GreetingRefused("agent_already_running", "another agent is running"))
    assert refused == [Stop("agent_already_running", "another agent is running", end_loads=False)]
    assert talk.session.is_stopped


def test_a_superseded_agent_stops_and_ends_its_loads() -> None:
    talk = Talk().holding(Stage.RUNNING)
    talk.say(Tick(), after_seconds=1.0)
    stop = talk.say(HeartbeatRefused(talk.session._heartbeat_number, "agent_superseded", "a copy took over"))
    assert stop == [Stop("agent_superseded", "a copy took over", end_loads=True)]
    assert talk.say(Tick(), after_seconds=100.0) == []


def test_other_refusals_do_not_end_an_agent_that_holds_an_order() -> None:
    talk = Talk().holding(Stage.RUNNING)
    talk.say(Tick(), after_seconds=1.0)
    refused = talk.say(HeartbeatRefused(talk.session._heartbeat_number, "not_authenticated", "unknown token"))
    assert not any(isinstance(action, Stop) for action in refused)


@pytest.mark.parametrize("code", ["curve_out_of_run", "report_too_large"])
def test_a_heartbeat_with_rejected_curves_ends_no_agent_and_another_follows(code: str) -> None:
    talk = Talk().greeted()
    talk.say(Tick(), after_seconds=10.0)
    assert talk.say(HeartbeatRefused(talk.session._heartbeat_number, code, "too many")) == []
    assert any(isinstance(action, SendHeartbeat) for action in talk.say(Tick(), after_seconds=10.0))


def test_changed_facts_are_reported() -> None:
    talk = Talk().greeted()
    assert Greet(()) in talk.say(FactsChanged())


def test_hello_is_sent_again_if_the_server_lost_the_facts() -> None:
    talk = Talk().greeted()
    assert Greet(()) in talk.answer(hello_wanted=True)


def looks_asked(talk: Talk, look: int | None) -> list[int | None]:
    """Return the probes that the next hello repeats after a heartbeat asked for one."""
    talk.say(Tick(), after_seconds=10.0)
    return [action.look for action in talk.answer(look=look) if isinstance(action, Greet)]


def test_each_request_to_look_around_is_answered_once_by_its_number() -> None:
    talk = Talk().greeted()
    talk.answer()
    assert looks_asked(talk, 1) == [1]
    talk.say(Greeted())
    assert looks_asked(talk, 1) == looks_asked(talk, None) == []
    assert looks_asked(talk, 2) == [2]


def test_an_agent_that_holds_orders_does_not_look_around() -> None:
    talk = Talk().holding(Stage.RUNNING)
    assert looks_asked(talk, 1) == [None]


@pytest.mark.parametrize(("code", "longest_seconds"), [("node_pending", 10.0), ("wire_version_unsupported", 600.0)])
def test_a_condition_that_needs_a_user_is_polled_ever_more_slowly(code: str, longest_seconds: float) -> None:
    talk = Talk()
    talk.say(Tick())
    for _ in range(30):
        assert talk.say(GreetingRefused(code, "wait"), 0.0) == []
        pause_seconds = talk.session.next_at() - talk.now
        assert [type(action) for action in talk.say(Tick(), pause_seconds)] == [Greet]
    assert pause_seconds == longest_seconds
    assert StartWorker() in talk.say(Greeted())


@pytest.mark.parametrize("code", ["invalid_input", "wire_version_unsupported"])
def test_a_restored_server_gets_a_new_hello(code: str) -> None:
    talk = Talk().greeted()
    number = talk.session._heartbeat_number
    assert talk.say(HeartbeatRefused(number, code, "what is that?")) == [Greet((), look=None)]


def test_a_worker_restarts_with_new_credentials() -> None:
    talk = Talk().greeted()
    assert StartWorker() in talk.say(HeartbeatAnswered(talk.session._heartbeat_number, reply(), is_rotated=True))
