"""Starts a headless Chromium and speaks to it over its DevTools pipe.

https://chromedevtools.github.io/devtools-protocol/
"""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any, Final, cast

from anyio import CancelScope, to_thread

from iotide_wire.units import MIB

Json = dict[str, Any]
OnRequest = Callable[["DevTools", Json, str | None], Coroutine[Any, Any, None]]

LARGEST_MESSAGE: Final = 64 * MIB
"""Bounds the PDF, which arrives as one message in base64."""
_END: Final = b"\0"
_LAUNCH: Final = (
    "import os, sys; os.dup2(0, 3); os.dup2(1, 4); null = os.open(os.devnull, os.O_RDWR); os.dup2(null, 0);"
    " os.dup2(null, 1); os.execv(sys.argv[1], sys.argv[1:])"
)
"""Chromium reads messages from descriptor 3 and writes to 4, which asyncio cannot assign."""
_ARGUMENTS: Final = (
    "--headless",
    "--remote-debugging-pipe",  # a port would be open to every user of the machine
    # This process answers all requests. Others, should any exist, find no name and no address.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=socks5://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",  # containers have 64 MB of it
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--mute-audio",
    "--no-first-run",
    "--password-store=basic",
)


class DevToolsError(Exception):
    pass


class DevTools:
    def __init__(self, process: Process, on_request: OnRequest) -> None:
        """`on_request` is called with each request that Chromium has paused (`Fetch.requestPaused`) and its session."""
        self._writer = cast("asyncio.StreamWriter", process.stdin)
        self._reader = cast("asyncio.StreamReader", process.stdout)
        self._on_request = on_request
        self._numbers = count(1)
        self._answers: dict[int, asyncio.Future[Json]] = {}
        self._handling = set[asyncio.Task[None]]()
        self._has_ended = False

    async def call(self, method: str, session_id: str | None = None, **parameters: object) -> Json:
        """Return the result. Raise DevToolsError if Chromium rejects the call or has ended."""
        if self._has_ended:
            raise DevToolsError("Chromium has ended")
        number = next(self._numbers)
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        of_session = {} if session_id is None else {"sessionId": session_id}
        message = {"id": number, "method": method, "params": parameters, **of_session}
        with suppress(ConnectionError):  # then `read` ends, which fails the answer
            self._writer.write(json.dumps(message).encode() + _END)
            await self._writer.drain()
        return await answer

    async def read(self) -> None:
        """Receive messages until Chromium ends or sends too large a message."""
        reason = "Chromium has ended"
        try:
            while True:
                self._receive(json.loads((await self._reader.readuntil(_END)).removesuffix(_END)))
        except asyncio.IncompleteReadError:
            pass
        except asyncio.LimitOverrunError:
            reason = f"Chromium sent more than {LARGEST_MESSAGE // MIB} MiB"
        finally:
            self._has_ended = True
            for task in self._handling:
                task.cancel()
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(DevToolsError(reason))

    def _receive(self, message: Json) -> None:
        answer = self._answers.pop(message.get("id", 0), None)
        if answer is None:
            if message.get("method") == "Fetch.requestPaused":
                task = asyncio.create_task(self._on_request(self, message["params"], message.get("sessionId")))
                self._handling.add(task)
                task.add_done_callback(self._handling.discard)
        elif answer.done():  # its caller was cancelled
            pass
        elif "error" in message:
            answer.set_exception(DevToolsError(str(message["error"].get("message"))))
        else:
            answer.set_result(message.get("result", {}))


@asynccontextmanager
async def running(chromium: str, on_request: OnRequest) -> AsyncIterator[DevTools]:
    """Run a Chromium with a profile of its own. Both are gone afterwards."""
    profile = tempfile.mkdtemp(prefix="iotide-print-")
    try:
        async with _process(chromium, profile) as process:
            devtools = DevTools(process, on_request)
            reading = asyncio.create_task(devtools.read())
            try:
                yield devtools
            finally:
                reading.cancel()
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(lambda: shutil.rmtree(profile, ignore_errors=True))


@asynccontextmanager
async def _process(chromium: str, profile: str) -> AsyncIterator[Process]:
    # Chromium's sandbox does not work for root. Servers that root starts drop its rights before they serve, unless
    # they run in a container.
    unconfined = ["--no-sandbox"] if os.geteuid() == 0 else []
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", "-c", _LAUNCH, chromium, *_ARGUMENTS, *unconfined),
        f"--user-data-dir={profile}",
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        # Not the server's environment, which has its secrets.
        env={"PATH": os.defpath, "HOME": profile, "TMPDIR": profile, "LANG": "C.UTF-8", "TZ": "UTC"},
        limit=LARGEST_MESSAGE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with CancelScope(shield=True):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
