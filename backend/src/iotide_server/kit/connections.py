"""Time limits for HTTP connections of slow clients."""

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

HEAD_SECONDS: Final = 20.0  # for a request's head, counted from the connection or its first byte

BODY_SECONDS: Final = 30.0
BYTES_A_SECOND: Final = 16 * KIB
"""A body may take BODY_SECONDS, or longer at this average rate, and so may a response."""

READING_SECONDS: Final = 60.0
"""Longest wait for a client to read, unless it reads BYTES_A_SECOND on average."""

LINGERING_SECONDS: Final = 2.0

LEAST_EARNED_SECONDS: Final = 1.0  # disconnects clients whose remaining allowance is smaller

_LAST_CHUNK: Final = b"0\r\n\r\n"
REQUEST_TOO_SLOW = ErrorKind(408, "request_too_slow").says(
    "the request arrived too slowly", "send at least {bytes_a_second} bytes per second"
)


class _Exchange(h11.Connection):
    missing_bytes: int | None = 0

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Raise RemoteProtocolError for a request with both Content-Length and Transfer-Encoding."""
        # A proxy in between may have used either of the two headers (request smuggling).
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
    """Uvicorn's protocol with time limits; Uvicorn itself limits only idle connections."""

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
        self._begin_exchange()
        self._backlog = Backlog(transport, self.unread, self._network)
        super().connection_made(self._backlog)
        # Even one unread byte counts. With a limit of 0, asyncio's TLS waits forever.
        transport.set_write_buffer_limits(high=1, low=0)
        self._limit_sending(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._backlog.forget()
        _stop(self._sending)
        _stop(self._reading)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._was_answered:
            self._pass_over(data)
            return
        self._received_bytes += len(data)
        super().data_received(data)
        self._follow(len(data))

    def on_response_complete(self) -> None:
        """Process pipelined requests like uvicorn, but only after the client has read the response."""
        # Otherwise the next response would wait in memory uncounted: `unread` counts only written bytes.
        if self.conn.their_state is h11.SEND_BODY:
            super().on_response_complete()
            # Drop the rest of a rejected body for a moment, so that the client can read the error.
            self._was_answered = True
            self._limit_sending(self.lingering_seconds)
            return
        self._goes_on_once_read = self._backlog.is_unread
        if not self._goes_on_once_read:
            super().on_response_complete()
            self._follow(0)

    def _pass_over(self, data: bytes) -> None:
        """Drop part of a rejected body without parsing it. After its end, accept the next request."""
        # Without a length, only parsing could find the next request, so close the connection.
        missing = self._exchange.missing_bytes
        if missing is None:
            if data.endswith(_LAST_CHUNK):
                self._end_connection()
        elif len(data) < missing:
            self._exchange.missing_bytes = missing - len(data)
        elif self._backlog.is_unread:
            self._end_connection()
        else:
            self._begin_exchange()
            self._was_answered = self._sends_body = False
            self._follow(0)
            if len(data) > missing:
                self.data_received(data[missing:])

    def _begin_exchange(self) -> None:
        self.conn = self._exchange = _Exchange(h11.SERVER)

    def pause_writing(self) -> None:
        self._backlog.pause()
        super().pause_writing()
        if self._waits_in is not self.cycle:
            self._waits_in, self._patience_seconds = self.cycle, self.reading_seconds
        self._judged_at, self._judged_bytes = self.loop.time(), self._backlog.taken_bytes
        self._wait_for_reader()

    def resume_writing(self) -> None:
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
        """Subtract the waiting time from the client's allowance, and add time for bytes read."""
        now, taken_bytes = self.loop.time(), self._backlog.taken_bytes
        earned_seconds = (taken_bytes - self._judged_bytes) / self.bytes_a_second
        left_seconds = self._patience_seconds - (now - self._judged_at) + earned_seconds
        self._patience_seconds = min(self.reading_seconds, left_seconds)
        self._judged_at, self._judged_bytes = now, taken_bytes

    def _network(self) -> str:
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
            # A whole request arrived or none has begun, so Uvicorn's limit for idle connections applies.
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
