"""Request bodies: limits of JSON, and which requests wait for others."""

import asyncio
from collections.abc import Callable
from errno import ENOSPC
from io import BytesIO
from pathlib import Path
from typing import Final
from weakref import ref

import pytest
from factories.raised import raised
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from iotide_server.kit.bodies import (
    BODY_TOO_COMPLEX,
    LARGE_BYTES,
    MEDIUM_AT_ONCE,
    MEDIUM_BYTES,
    NO_ROOM_FOR_BODY,
    Bodies,
    BodyLimit,
    Caller,
    set_body_limit,
)

LIMIT: Final = BodyLimit(size_bytes=2 * LARGE_BYTES, lists=10, names=10, values=10)
NODE: Final = Caller("node", "1")


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 10 + b"]" * 10,
        b'{"a":[{"b":[]}]}',
        b"[0" + b",0" * 10 + b"]",
        b'["' + b",:" * 1000 + b'"]',
        b'["' + b'\\",:' * 1000 + b'"]',
        b'["' + b"x" * LARGE_BYTES + b'"]',
    ],
)
def test_json_within_the_limits_passes_with_any_text(body: bytes) -> None:
    LIMIT.check(body)


def test_a_text_that_never_ends_is_passed_once_however_many_quotation_marks_are_in_it() -> None:
    # A parser that starts again at each escaped quotation mark takes minutes for this.
    body = b'{"a":"' + b':\\"' * 54_000 + b":" * 47_000
    BodyLimit(names=100_000).check(body)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"[" * 11, "more than 10 lists and objects"),
        (b"[{" * 6, "more than 10 lists and objects"),
        (b"[0" + b",0" * 11 + b"]", "more than 10 values"),
        (b'["\\"' + b'",0,"' * 11 + b'"]', "more than 10 values"),
        (b'{"a" : 0' + b' "a" : 0' * 11 + b"}", "more than 10 member names"),
        (b'{"a":"' + b"x" * 2 * LARGE_BYTES + b'"}', "without a quotation mark"),
        (b'{"a":' + b" " * 2 * LARGE_BYTES + b"1}", "without a quotation mark"),
    ],
)
def test_json_beyond_a_limit_is_refused_and_the_limit_named(body: bytes, words: str) -> None:
    with raised(BODY_TOO_COMPLEX, match=words):
        LIMIT.check(body)


class Sender:
    """A request with a body that the test releases."""

    def __init__(self, size_bytes: int, limit: BodyLimit = LIMIT, piece: bytes = b"x") -> None:
        self.size_bytes = size_bytes
        self.has_been_asked = False
        self.may_send = asyncio.Event()
        self._piece = piece
        headers = [(b"content-length", str(size_bytes).encode())]
        self.request = Request({"type": "http", "headers": headers}, self._receive)
        set_body_limit(self.request.scope, limit)

    async def _receive(self) -> Message:
        self.has_been_asked = True
        await self.may_send.wait()
        return {"type": "http.request", "body": self._piece * self.size_bytes, "more_body": False}


class Acting:
    """A route that takes as long as the test decides."""

    def __init__(self) -> None:
        self.bodies: list[int] = []
        self.has_begun = asyncio.Semaphore(0)
        self.may_answer = asyncio.Event()

    async def __call__(self, body: bytes) -> Response:
        self.bodies.append(len(body))
        self.has_begun.release()
        await self.may_answer.wait()
        return Response()


async def settled(condition: Callable[[], bool]) -> bool:
    for _ in range(100):
        await asyncio.sleep(0)
    return condition()


def test_a_caller_sends_one_large_body_at_a_time_and_others_are_not_held_up() -> None:
    async def story() -> None:
        bodies, act = Bodies(), Acting()
        act.may_answer.set()
        first, second, of_another, small = (Sender(size) for size in (*[LARGE_BYTES + 1] * 3, LARGE_BYTES))
        callers = (NODE, NODE, Caller("node", "2"), NODE)
        senders = (first, second, of_another, small)
        tasks = [
            asyncio.create_task(bodies.serve(sender.request, caller, act, is_json=True))
            for sender, caller in zip(senders, callers, strict=True)
        ]
        assert await settled(lambda: first.has_been_asked and of_another.has_been_asked and small.has_been_asked)
        assert not second.has_been_asked
        first.may_send.set()
        assert await settled(lambda: tasks[0].done() and second.has_been_asked)
        for sender in senders:
            sender.may_send.set()
        await asyncio.gather(*tasks)
        assert sorted(act.bodies) == [LARGE_BYTES, *[LARGE_BYTES + 1] * 3]

    asyncio.run(story())


def test_only_one_of_the_largest_bodies_of_nodes_and_one_of_people_are_in_memory(tmp_path: Path) -> None:
    async def story() -> None:
        act = Acting()
        processes = Bodies(tmp_path), Bodies(tmp_path), Bodies(tmp_path)
        senders = [Sender(MEDIUM_BYTES + 1) for _ in range(3)]
        callers = [NODE, Caller("node", "2"), Caller("user", "1")]
        for sender in senders:
            sender.may_send.set()
        tasks = [
            asyncio.create_task(bodies.serve(sender.request, caller, act, is_json=True))
            for bodies, sender, caller in zip(processes, senders, callers, strict=True)
        ]
        for _ in range(2):
            await act.has_begun.acquire()
        assert not await settled(lambda: len(act.bodies) == 3)
        act.may_answer.set()
        await asyncio.gather(*tasks)
        assert len(act.bodies) == 3

    asyncio.run(story())


def test_only_a_few_other_large_bodies_are_in_memory() -> None:
    """One result that waits for the database does not block the backlog of all nodes."""

    async def story() -> None:
        bodies, act = Bodies(), Acting()
        senders = [Sender(MEDIUM_BYTES) for _ in range(20)]
        for sender in senders:
            sender.may_send.set()
        tasks = [
            asyncio.create_task(bodies.serve(sender.request, Caller("node", str(number)), act, is_json=True))
            for number, sender in enumerate(senders)
        ]
        assert await settled(lambda: len(act.bodies) == MEDIUM_AT_ONCE)
        assert not await settled(lambda: len(act.bodies) > MEDIUM_AT_ONCE)
        act.may_answer.set()
        await asyncio.gather(*tasks)
        assert len(act.bodies) == len(senders)

    asyncio.run(story())


def test_too_many_lists_are_refused_while_they_arrive_but_not_in_a_file() -> None:
    async def story() -> None:
        bodies, act = Bodies(), Acting()
        act.may_answer.set()
        for is_json in (True, False):
            sender = Sender(LARGE_BYTES + 1, piece=b"[")
            sender.may_send.set()
            serving = bodies.serve(sender.request, NODE, act, is_json=is_json)
            if is_json:
                with raised(BODY_TOO_COMPLEX):
                    await serving
            else:
                await serving
        assert act.bodies == [LARGE_BYTES + 1]

    asyncio.run(story())


class FullDisk(BytesIO):
    """A file on a full disk."""

    def write(self, _: object) -> int:
        raise OSError(ENOSPC, "No space left on device")


def test_a_full_disk_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        sender = Sender(LARGE_BYTES + 1)
        sender.may_send.set()
        with raised(NO_ROOM_FOR_BODY, match="No space left on device"):
            await Bodies().serve(sender.request, NODE, Acting(), is_json=True)

    monkeypatch.setattr("iotide_server.kit.bodies.TemporaryFile", FullDisk)
    asyncio.run(story())


class Parsed:
    """An object that a route made from a body."""


def test_an_error_keeps_neither_the_body_nor_what_was_made_of_it() -> None:
    """Else they are still in memory when the next body is read."""

    async def story() -> None:
        made: list[ref[Parsed]] = []

        async def act(_: bytes) -> Response:
            parsed = Parsed()
            made.append(ref(parsed))
            raise BODY_TOO_COMPLEX(what="something")

        sender = Sender(LARGE_BYTES + 1)
        sender.may_send.set()
        with raised(BODY_TOO_COMPLEX) as caught:
            await Bodies().serve(sender.request, NODE, act, is_json=True)
        assert caught.value.__traceback__ is not None
        assert made[0]() is None

    asyncio.run(story())
