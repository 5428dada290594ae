"""Hostile traffic for `./dev bench load --hostile`, from a separate process.

It repeats 16 MiB bodies of JSON lists without a token, previews of a workload with an expensive option schema, and
many change feeds of one user. Their answers are counted but have no limit.
"""

import asyncio
import json
import multiprocessing
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from factories.announced import hello, mount, workload
from factories.ready_cluster import announced
from load_calls import Caller, Tally
from local_stack import LocalStack

from iotide_wire.messages import EnrollReply, EnrollRequest, NodeRole
from iotide_wire.versions import WIRE_VERSION

BODIES: Final = 14
PREVIEWS: Final = 8
STREAMS: Final = 500
BODY_BYTES: Final = 16 * 1024**2
BODY: Final = b'{"fence":[' + b"[]," * ((BODY_BYTES - 14) // 3) + b"[]]}"
PIECE_BYTES: Final = 64 * 1024
PAUSE_SECONDS: Final = 1.0
"""Between two requests of one attacker. The attackers share two cores with the server."""
STREAM_PAUSE_SECONDS: Final = 30.0
DEPTH: Final = 40
_JSON: Final = "Content-Type: application/json\r\n"


def bomb_schema() -> dict[str, Any]:
    """Return a schema of options that takes two to the power of DEPTH steps to validate."""
    last = {f"d{DEPTH}": {"type": "object"}}
    doubling = {f"d{number}": {"allOf": [{"$ref": f"#/$defs/d{number + 1}"}] * 2} for number in range(DEPTH)}
    return {"type": "object", "$defs": doubling | last, "allOf": [{"$ref": "#/$defs/d0"}]}


@dataclass
class Attack:
    """Attackers of a bench's server: a node of their own, and an operator who previews its workload.

    Attributes:
        workload: previewed workload: the bomb, or an ordinary one if the server rejects the bomb.
    """

    stack: LocalStack
    cluster_id: int
    workload: str = field(init=False)
    _plan: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        node_id = self._announce()
        self.stack.add_target(self.cluster_id, "hostile", Path("/scratch"), [node_id])
        options = {} if self.workload == "bomb" else {"file_size_bytes": ["64 MiB", "128 MiB"]}
        self._plan = {
            "name": "hostile",
            "cluster": "load",
            "nodes": ["hostile"],
            "targets": ["hostile"],
            "workloads": [{"workload": self.workload, "options": options}],
        }

    def __str__(self) -> str:
        return (
            f"{BODIES} bodies of {BODY_BYTES} bytes without a token, {PREVIEWS} previews of {self.workload} and"
            f" {STREAMS} streams"
        )

    @contextmanager
    def going_on(self) -> Iterator[int | None]:
        """Attack until the end of the block, then report the answers; the block gets the attackers' process."""
        context = multiprocessing.get_context("spawn")  # a fork would have the bench's own event loop
        here, there = context.Pipe()
        arguments = (self.stack.port, f"Authorization: Bearer {self.stack.token}\r\n", self._plan, there)
        process = context.Process(target=_run, args=arguments, daemon=True)
        process.start()
        try:
            yield process.pid
        finally:
            here.send("end")
            counts = here.recv() if here.poll(60) else {"nothing": 1}
            process.join(60)
            print("hostile: answers " + " ".join(f"{name}={count}" for name, count in sorted(counts.items())))

    def _announce(self) -> int:
        """Enrol the node and announce its workloads; return its id."""
        terms = {"uses": 1, "expires_in_seconds": 600, "needs_approval": False}
        join_token = self.stack.post(f"/clusters/{self.cluster_id}/join-tokens", terms)["token"]
        request = EnrollRequest(
            join_token=join_token,
            node_name="hostile",
            role=NodeRole.COMPUTE,
            agent_version="1",
            wire_version=WIRE_VERSION,
        )
        enrolled = self.stack.api.post("/agent/enroll", content=request.model_dump_json(), headers=_CONTENT).json()
        reply = EnrollReply.model_validate(enrolled)
        headers = {**_CONTENT, "Authorization": f"Bearer {reply.node_token}"}
        bomb = workload("bomb", options_schema=bomb_schema(), option_defaults={})
        said = hello("instance-hostile", mounts=[mount("/scratch")], approved=["/scratch"])
        for name, found in (("bomb", [*announced(()), bomb]), ("iozone", announced(()))):
            self.workload = name
            changed = said.model_copy(update={"workloads": tuple(found), "wire_version": WIRE_VERSION})
            if self.stack.api.post("/agent/hello", content=changed.model_dump_json(), headers=headers).is_success:
                return reply.node_id
        raise SystemExit("load: the server refused the hostile node")


_CONTENT: Final = {"Content-Type": "application/json"}


def _run(port: int, proof: str, plan: dict[str, Any], parent: Connection) -> None:
    parent.send(asyncio.run(_attack(port, proof, plan, parent)))


async def _attack(port: int, proof: str, plan: dict[str, Any], parent: Connection) -> Counter[str]:
    counts: Counter[str] = Counter()
    preview = json.dumps(plan).encode()
    lives = [
        *(_again(counts, "body", lambda: _send_body(port)) for _ in range(BODIES)),
        *(_again(counts, "preview", lambda: _preview(port, proof, preview)) for _ in range(PREVIEWS)),
        *(_again(counts, "stream", lambda: _listen(port, proof), STREAM_PAUSE_SECONDS) for _ in range(STREAMS)),
    ]
    tasks = [asyncio.create_task(life) for life in lives]
    await asyncio.to_thread(parent.recv)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return counts


async def _again(
    counts: Counter[str], kind: str, act: Callable[[], Awaitable[object]], pause_seconds: float = PAUSE_SECONDS
) -> None:
    while True:
        outcome = await act()
        counts[f"{kind}:{outcome}"] += 1
        await asyncio.sleep(pause_seconds)


async def _send_body(port: int) -> int:
    """Return the status, or 0 if the server closed the connection before its answer was read."""
    with suppress(OSError, asyncio.IncompleteReadError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            head = (
                f"POST /api/v1/agent/orders/1/finish HTTP/1.1\r\nHost: x\r\n{_JSON}Content-Length: {len(BODY)}\r\n\r\n"
            )
            writer.write(head.encode())
            with suppress(OSError):
                for start in range(0, len(BODY), PIECE_BYTES):
                    writer.write(BODY[start : start + PIECE_BYTES])
                    await writer.drain()
            return int((await reader.readuntil(b"\r\n"))[9:12])
        finally:
            writer.close()
    return 0


async def _preview(port: int, proof: str, content: bytes) -> int:
    caller = Caller(port, Tally(), f"{proof}{_JSON}")
    answer = await caller.ask("preview", "POST", "/api/v1/campaigns/preview", content)
    caller.close()
    return answer.status


async def _listen(port: int, proof: str) -> str:
    """Read the change feed until the server ends it."""
    try:
        async with Caller(port, Tally(), proof).stream("/api/v1/events") as lines:
            async for _ in lines:
                pass
    except ConnectionRefusedError:
        return "refused"
    except (OSError, asyncio.IncompleteReadError):
        return "broken"
    return "ended"
