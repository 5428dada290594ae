"""One connection to the API: who sends or reads too slowly loses it, so that nobody holds a place for ever.

What comes of a body after its request was refused costs no more than receiving it.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from iotide_server.kit.errors import ErrorKind
from iotide_server.kit.proxies import network_of
from iotide_server.kit.unread import Backlog, Unread
from iotide_server.kit.web import refusal
from iotide_wire.units import KIB

HEAD_SECONDS: Final = 20.0  # so long may the head of a request take, from the connection or from its first byte on

BODY_SECONDS: Final = 30.0
BYTES_A_SECOND: Final = 16 * KIB
"""A body may take BODY_SECONDS, and longer as long as it comes at this rate on average; an answer must go at it."""

READING_SECONDS: Final = 60.0
"""An answer may wait for its client this long, and longer as long as it goes at BYTES_A_SECOND on average."""

LINGERING_SECONDS: Final = 2.0
"""The rest of a refused body is passed over for this time at most; then the connection ends."""

LEAST_EARNED_SECONDS: Final = 1.0  # who has earned less since the last look is cut off

_LAST_CHUNK: Final = b"0\r\n\r\n"
REQUEST_TOO_SLOW = ErrorKind(408, "request_too_slow").says(
    "the request did not come in time", "send at least {bytes_a_second} bytes a second"
)


class _Exchange(h11.Connection):
    """h11's connection, which also counts what is still to come of a body."""

    missing_bytes: int | None = 0  # None for a body that does not say its length

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event, counted; raise RemoteProtocolError for one with a length that comes in chunks."""
        # What passed it on may have used either.
        event = super().next_event()
        if isinstance(event, h11.Request):
            length = next((value for name, value in event.headers if name == b"content-length"), None)
            if length is not None and any(name == b"transfer-encoding" for name, _ in event.headers):
                raise h11.RemoteProtocolError("Content-Length and Transfer-Encoding in one request")
            self.missing_bytes = None if length is None else int(length)
        elif isinstance(event, h11.Data) and self.missing_bytes is not None:
            self.missing_bytes -= len(event.data)
        return event


class BoundedProtocol(H11Protocol):
    """Uvicorn's protocol with time limits, of which it has one for idle connections alone; a test has others."""

    head_seconds = HEAD_SECONDS
    body_seconds = BODY_SECONDS
    bytes_a_second = BYTES_A_SECOND
    reading_seconds = READING_SECONDS
    lingering_seconds = LINGERING_SECONDS
    least_earned_seconds = LEAST_EARNED_SECONDS
    unread = Unread()

    _sending: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None
    _received_bytes = 0
    _waits_in: object = None
    _patience_seconds = 0.0
    _judged_at = 0.0
    _judged_bytes = 0
    _sends_body = False
    _was_answered = False
    _goes_on_once_read = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Begin to wait for a request."""
        self._begin_exchange()
        self._backlog = Backlog(transport, self.unread, self._network)
        super().connection_made(self._backlog)
        # Whatever waits to be read counts, however little it is. With a limit of 0 asyncio's TLS waits for ever.
        transport.set_write_buffer_limits(high=1, low=0)
        self._limit_sending(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._backlog.forget()
        _stop(self._sending)
        _stop(self._reading)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came, and begin or end a wait where a head or a body does."""
        if self._was_answered:
            self._pass_over(data)
            return
        self._received_bytes += len(data)
        super().data_received(data)
        self._follow(len(data))

    def on_response_complete(self) -> None:
        """Go on with what the client sent ahead, as uvicorn does, but only after it has read the answer."""
        # The next answer would wait in memory before it is written, and `unread` counts only what was written.
        if self.conn.their_state is h11.SEND_BODY:
            super().on_response_complete()
            # Refused before all of the body came: it is passed over for a moment, so that the client reads why.
            self._was_answered = True
            self._limit_sending(self.lingering_seconds)
            return
        self._goes_on_once_read = self._backlog.is_unread
        if not self._goes_on_once_read:
            super().on_response_complete()
            self._follow(0)

    def _pass_over(self, data: bytes) -> None:
        """Drop a part of a refused body unread, since parsing is dear; after the last the next request may come."""
        # Without a length nothing but parsing says where the next request begins, so that connection ends.
        missing = self._exchange.missing_bytes
        if missing is None:
            if data.endswith(_LAST_CHUNK):
                self._end_connection()
        elif len(data) < missing:
            self._exchange.missing_bytes = missing - len(data)
        elif self._backlog.is_unread:
            self._end_connection()  # once the answer was read
        else:
            self._begin_exchange()
            self._was_answered = self._sends_body = False
            self._follow(0)
            if len(data) > missing:
                self.data_received(data[missing:])

    def _begin_exchange(self) -> None:
        self.conn = self._exchange = _Exchange(h11.SERVER)

    def pause_writing(self) -> None:
        """Wait for the client, which does not keep up with reading."""
        self._backlog.pause()
        super().pause_writing()
        if self._waits_in is not self.cycle:
            self._waits_in, self._patience_seconds = self.cycle, self.reading_seconds
        self._judged_at, self._judged_bytes = self.loop.time(), self._backlog.taken_bytes
        self._wait_for_reader()

    def resume_writing(self) -> None:
        """Go on once the client has caught up; of an answer in pieces, with the next of them."""
        _stop(self._reading)
        self._judge_reader()
        self._backlog.resume()
        if not self._backlog.is_unread:
            super().resume_writing()
            if self._goes_on_once_read:
                self.on_response_complete()

    def _wait_for_reader(self) -> None:
        self._reading = self.loop.call_later(
            max(self._patience_seconds, self.least_earned_seconds), self._look_at_reader
        )

    def _look_at_reader(self) -> None:
        self._judge_reader()
        if self._patience_seconds < self.least_earned_seconds:
            self.transport.abort()
        else:
            self._wait_for_reader()

    def _judge_reader(self) -> None:
        """Take the time that the client was waited for, and give it that of what it has read meanwhile."""
        now, taken_bytes = self.loop.time(), self._backlog.taken_bytes
        earned_seconds = (taken_bytes - self._judged_bytes) / self.bytes_a_second
        left_seconds = self._patience_seconds - (now - self._judged_at) + earned_seconds
        self._patience_seconds = min(self.reading_seconds, left_seconds)
        self._judged_at, self._judged_bytes = now, taken_bytes

    def _network(self) -> str:
        """Name where the request came from that is answered; the proxy's word for it stands in its scope."""
        client = self.client if self.scope is None else self.scope["client"]
        return network_of(None if client is None else client[0])

    def _follow(self, received_bytes: int) -> None:
        sends_body = self.conn.their_state is h11.SEND_BODY
        if sends_body and not self._sends_body:
            self._received_bytes = received_bytes
            self._limit_sending(self.body_seconds)
        elif self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            if self._sends_body or self._sending is None:
                self._limit_sending(self.head_seconds)
        elif not sends_body:
            # A whole request came, or none has begun: then uvicorn's own limit for idle connections holds.
            _stop(self._sending)
            self._sending = None
        self._sends_body = sends_body

    def _limit_sending(self, seconds: float) -> None:
        _stop(self._sending)
        self._sending = self.loop.call_later(seconds, self._end_slow)

    def _end_slow(self) -> None:
        earned_seconds = self._received_bytes / self.bytes_a_second
        if self._sends_body and not self._was_answered and earned_seconds >= self.least_earned_seconds:
            self._received_bytes = 0
            self._limit_sending(earned_seconds)
            return
        has_begun = self._sends_body or self.conn.trailing_data[0]
        if has_begun and self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self._say_too_slow()
        self._end_connection()

    def _end_connection(self) -> None:
        self.transport.close()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _say_too_slow(self) -> None:
        answer = refusal(REQUEST_TOO_SLOW(bytes_a_second=self.bytes_a_second))
        headers = [*answer.raw_headers, (b"connection", b"close")]
        write: Callable[[bytes], None] = self.transport.write
        for event in (
            h11.Response(status_code=answer.status_code, headers=headers, reason=b"Request Timeout"),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        ):
            write(self.conn.send(event) or b"")


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
