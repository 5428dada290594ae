"""Server messages to a session."""

from datetime import UTC, datetime

from iotide_wire.messages import HeartbeatReply, OrderWord, Word

GO_AT = datetime(2026, 11, 21, 10, tzinfo=UTC)


def word(said: Word, order_id: int = 1, fence: int = 10) -> OrderWord:
    return OrderWord(order_id=order_id, fence=fence, word=said, go_at=GO_AT if said is Word.GO else None)


def reply(*words: OrderWord, **changes: object) -> HeartbeatReply:
    usual: dict[str, object] = {"beat_seconds": 1.0, "oldest_offer_seconds": None, "hello_wanted": False}
    return HeartbeatReply.model_validate({"server_time": GO_AT, "orders": words} | usual | changes)
