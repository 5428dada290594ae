"""Small gateway over real HTTP, sufficient for the agent's tests; the contract tests use the real one."""

import hashlib
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.middleware.base import RequestResponseEndpoint

from iotide_wire.messages import (
    ClaimRequest,
    EnrollReply,
    EnrollRequest,
    FinishReply,
    FinishRequest,
    HeartbeatReply,
    HeartbeatRequest,
    HelloReply,
    HelloRequest,
    Order,
    OrderHeartbeat,
    OrderState,
    OrderWord,
    StuckLoad,
    Word,
)
from iotide_wire.nodes import BrokerAccess, NewCredentials, RotateRequest, Standing
from iotide_wire.versions import SPOKEN_VERSIONS, WIRE_VERSION

T = TypeVar("T")


class RefusedError(Exception):
    """Refusal with its code."""

    def __init__(self, code: str, status: int = 409) -> None:
        super().__init__(code)
        self.code = code
        self.status = status


@dataclass
class OrderRecord:
    """State of an order in the double."""

    order: Order
    state: OrderState | None = None
    is_cancelled: bool = False
    is_unknown: bool = False
    go_at: datetime | None = None
    heartbeats: list[OrderHeartbeat] = field(default_factory=list)
    artefacts: dict[str, bytes] = field(default_factory=dict)
    results: list[FinishRequest] = field(default_factory=list)
    started_seen_at: float = 0.0


class GatewayDouble:
    """Server side of the protocol, with its state open to the test.

    Attributes:
        refuse_hello: code of a 409 for every hello.
        stuck: stuck loads that its heartbeats reported.
        is_away: answer every request with 503.
        token, next_token: of the node; the second from the start of a rotation until its confirmation.
        rotation_wanted: answers to heartbeats ask for a rotation.
        lose: number of answers to rotations and confirmations that are lost after their request was processed.
    """

    def __init__(self, broker: BrokerAccess, node_id: int) -> None:
        self.node_id = node_id
        self.broker = broker
        self.orders: dict[int, OrderRecord] = {}
        self.hellos: list[HelloRequest] = []
        self.current_instance: str | None = None
        self.refuse_hello: str | None = None
        self.refuse_heartbeat: str | None = None
        self.stuck: list[tuple[StuckLoad, ...] | None] = []
        self.is_away = False
        self.token = "ion_secret"
        self.next_token: str | None = None
        self.pending_until: datetime | None = None
        self.rotation_wanted = False
        self.lose: set[str] = set()
        self.oldest_offer_seconds: float | None = None
        self._changed = threading.Condition()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(self._app(), log_level="warning", log_config=None, lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    def start(self) -> None:
        """Serve until closed."""
        self._thread.start()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    def until(self, is_so: Callable[[], T], limit_seconds: float = 30.0) -> T:
        """Return the first true result of `is_so`, which is called after each request of the agent."""
        ends_at = time.monotonic() + limit_seconds
        with self._changed:
            while not (answer := is_so()):
                assert time.monotonic() < ends_at, f"not within {limit_seconds:g} s"
                self._changed.wait(0.05)
            return answer

    def result(self, order_id: int, limit_seconds: float = 30.0) -> FinishRequest:
        """Wait for the result of an order."""
        return self.until(lambda: self.orders[order_id].results, limit_seconds)[0]

    def until_running(self, order_id: int) -> float:
        """Return when the order was first reported as running, CLOCK_MONOTONIC."""
        return self.until(lambda: self.orders[order_id].started_seen_at)

    def _app(self) -> FastAPI:
        app = FastAPI()

        @app.middleware("http")
        async def away(request: Request, call_next: RequestResponseEndpoint) -> Response:
            if self.is_away:
                return JSONResponse({"error": {"code": "away"}}, 503)
            path = request.url.path.removeprefix("/api/v1/agent")
            if refused := self._refuse(path, request.headers.get("authorization", "")):
                return refused
            answer = await call_next(request)
            if path in self.lose:
                self.lose.remove(path)
                return JSONResponse({"error": {"code": "lost"}}, 503)
            with self._changed:
                self._changed.notify_all()
            return answer

        @app.exception_handler(RefusedError)
        async def refused(_request: Request, error: RefusedError) -> Response:
            body = {"code": error.code, "message": f"refused: {error.code}", "remedy": None}
            return JSONResponse({"error": body}, error.status)

        app.post("/api/v1/agent/enroll")(self._enroll)
        app.post("/api/v1/agent/hello")(self._hello)
        app.post("/api/v1/agent/beat")(self._heartbeat)
        app.post("/api/v1/agent/orders/{order_id}/claim")(self._claim)
        app.put("/api/v1/agent/orders/{order_id}/artefacts/{name}")(self._put)
        app.post("/api/v1/agent/orders/{order_id}/finish")(self._finish)
        app.post("/api/v1/agent/rotation")(self._rotate)
        app.post("/api/v1/agent/rotation/confirm", status_code=204)(self._confirm)
        app.get("/api/v1/agent/standing")(self._standing)
        app.get("/api/v1/health")(lambda: {"status": "ok"})
        return app

    def _enroll(self, request: EnrollRequest) -> EnrollReply:
        return EnrollReply(
            node_id=self.node_id,
            node_name=request.node_name,
            cluster="test",
            node_token=self.token,
            broker=self.broker,
        )

    def _refuse(self, path: str, authorization: str) -> Response | None:
        opens = {self.token, self.next_token} if path == "/rotation/confirm" else {self.token}
        if path == "/enroll" or not path.startswith("/") or authorization.removeprefix("Bearer ") in opens:
            return None
        body = {"code": "not_authenticated", "message": "unknown node token", "remedy": None}
        return JSONResponse({"error": body}, 401)

    def _rotate(self, request: RotateRequest) -> NewCredentials:
        if not self.rotation_wanted:
            raise RefusedError("rotation_not_wanted")
        assert request.agent_instance == self.current_instance
        self.next_token = f"{self.token}+"
        return NewCredentials(node_token=self.next_token, broker=self.broker)

    def _confirm(self, request: Request) -> None:
        token = request.headers["authorization"].removeprefix("Bearer ")
        if token == self.next_token:
            self.token, self.next_token, self.rotation_wanted = token, None, False

    def _standing(self) -> Standing:
        return Standing(
            node_name="node-1",
            cluster="test",
            pending_until=self.pending_until,
            fingerprint="0123 4567 89ab cdef",
            server_time=datetime.now(UTC),
            oldest_wire_version=SPOKEN_VERSIONS.start,
            newest_wire_version=WIRE_VERSION,
        )

    def _hello(self, request: HelloRequest) -> HelloReply:
        if self.refuse_hello:
            raise RefusedError(self.refuse_hello, 403 if self.refuse_hello == "node_pending" else 409)
        self.hellos.append(request)
        self.current_instance = request.agent_instance
        now = datetime.now(UTC)
        return HelloReply(
            wire_version=WIRE_VERSION, node_id=self.node_id, node_name="node-1", server_time=now, beat_seconds=1.0
        )

    def _claim(self, order_id: int, request: ClaimRequest) -> Order:
        record = self.orders.get(order_id)
        if record is None or record.order.fence != request.fence:
            raise RefusedError("stale_fence")
        if record.state not in {None, OrderState.CLAIMED}:
            raise RefusedError("order_withdrawn")
        record.state = OrderState.CLAIMED
        return record.order

    def _heartbeat(self, request: HeartbeatRequest) -> HeartbeatReply:
        if self.refuse_heartbeat or request.agent_instance != self.current_instance:
            raise RefusedError(self.refuse_heartbeat or "agent_superseded")
        self.stuck.append(request.stuck)
        words = tuple(self._word(heartbeat) for heartbeat in request.orders)
        now = datetime.now(UTC)
        return HeartbeatReply(
            server_time=now,
            beat_seconds=1.0,
            orders=words,
            oldest_offer_seconds=self.oldest_offer_seconds,
            hello_wanted=False,
            rotation_wanted=self.rotation_wanted,
        )

    def _word(self, heartbeat: OrderHeartbeat) -> OrderWord:
        record = self.orders.get(heartbeat.order_id)
        word, go_at = Word.CONTINUE, None
        if record is None or record.is_unknown or record.order.fence != heartbeat.fence:
            word = Word.UNKNOWN
        else:
            record.heartbeats.append(heartbeat)
            record.state = heartbeat.state
            if heartbeat.state is OrderState.RUNNING and not record.started_seen_at:
                record.started_seen_at = time.monotonic()
            if record.is_cancelled:
                word = Word.CANCEL
            elif heartbeat.state is OrderState.READY:
                word, go_at = Word.GO, record.go_at
        return OrderWord(order_id=heartbeat.order_id, fence=heartbeat.fence, word=word, go_at=go_at)

    async def _put(self, order_id: int, name: str, sha256: str, request: Request) -> None:
        content = await request.body()
        record = self.orders[order_id]
        assert hashlib.sha256(content).hexdigest() == sha256
        assert request.headers["x-iotide-fence"] == str(record.order.fence)
        record.artefacts[name] = content

    def _finish(self, order_id: int, request: FinishRequest) -> FinishReply:
        record = self.orders[order_id]
        if request.fence != record.order.fence:
            return FinishReply(accepted=False, duplicate=False)
        record.state = OrderState.ENDED
        record.results.append(request)
        return FinishReply(accepted=True, duplicate=len(record.results) > 1)
