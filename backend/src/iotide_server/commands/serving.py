"""The API's processes: each serves the whole application, all of them on one port."""

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.supervisors import multiprocess as processes_of_uvicorn

from iotide_server.bundled.privileges import die_with_parent
from iotide_server.commands.opening import settings_of_environment
from iotide_server.kit.allocation import give_memory_back
from iotide_server.kit.connections import BoundedProtocol
from iotide_server.kit.listening import open_as_many_files_as_allowed
from iotide_server.kit.loading import uncollected
from iotide_server.kit.meters import count_in_files
from iotide_server.monitoring.processes import are_counted_together, counting_together
from iotide_server.settings import Settings

MOST_PROCESSES: Final = 64
_ENOUGH_PROCESSES: Final = 4  # for 2,000 nodes: `./dev bench load`. One of Python computes on one core at a time
_LEAST_PROCESSES: Final = 2
_OPEN_REQUESTS_SECONDS: Final = 5
_IDLE_CONNECTION_SECONDS: Final = 75
"""Longer than agents and nginx (60 s each) keep a connection that they do not use, so that nobody meets its end."""
_HANGS_AFTER_SECONDS: Final = 60  # a process that gives no sign of life for so long is replaced
_SWITCH_SECONDS: Final = 0.0005
"""After so long a thread that computes lets the event loop go on, which waits for it at each of its system calls."""
_COLLECTED_AFTER: Final = (5_000, 10, 10)  # objects, not the usual 700: each request makes thousands that end with it


_HEARD_BY_PARENT: Final = frozenset(signal.Signals(number) for number in processes_of_uvicorn.SIGNALS)
_FORKING: Final = multiprocessing.get_context("fork")


class ForkedProcess(processes_of_uvicorn.Process):
    """One of several, forked from a parent that has loaded the application, has one thread and no connection.

    uvicorn 0.54 would start a new Python, which takes a second of a core to load the same.

    It also keeps the child's end of the pipe open in the parent. Nothing then tells a child that hangs from one that
    was killed with a question open, as it is while a process starts. Closing it here may go when uvicorn does so
    (https://github.com/Kludex/uvicorn/blob/main/uvicorn/supervisors/multiprocess.py).
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket]) -> None:
        super().__init__(config, sockets)
        self._parent_pid = os.getpid()
        self.process = _FORKING.Process(target=self._serve, args=(sockets,))  # type: ignore[assignment] # not spawned

    def start(self) -> None:
        """Start it; the parent hears of its end at once, also while it waits for a sign of life."""
        # A signal for the child would else meet the parent's handlers there, and be lost.
        signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD_BY_PARENT)
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD_BY_PARENT)
        self.child_conn.close()

    def _serve(self, sockets: list[socket]) -> None:
        die_with_parent(self._parent_pid, signal.SIGKILL)  # else those whose parent was killed would keep its port
        for number in _HEARD_BY_PARENT:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD_BY_PARENT)
        self.parent_conn.close()
        self.target(sockets)


@dataclass(frozen=True, slots=True)
class Listen:
    """Where the API is reached; with a certificate and its issuers (PEM) by TLS."""

    host: str
    port: int
    tls_chain: Path | None
    tls_key: Path | None


def usual_processes() -> int:
    """One for each processor, but two at least, one of which serves while the other is replaced, and four at most."""
    return min(_ENOUGH_PROCESSES, max(_LEAST_PROCESSES, len(os.sched_getaffinity(0))))


def serve(listen: Listen, processes: int) -> None:
    """Serve until a signal says to stop. Of several processes one that ends is replaced."""
    open_as_many_files_as_allowed()  # each node keeps a connection
    how: dict[str, Any] = {
        "host": listen.host,
        "port": listen.port,
        "ssl_certfile": listen.tls_chain,
        "ssl_keyfile": listen.tls_key,
        "access_log": False,
        "proxy_headers": False,  # kit/proxies.py does it: uvicorn would believe whatever comes from this machine
        "log_config": None,  # its lines go where ours go
        "http": BoundedProtocol,
        "timeout_keep_alive": _IDLE_CONNECTION_SECONDS,
        # A news stream never ends by itself.
        "timeout_graceful_shutdown": _OPEN_REQUESTS_SECONDS,
        "timeout_worker_healthcheck": _HANGS_AFTER_SECONDS,
    }
    if processes == 1:
        uvicorn.run(application(), **how)
        return
    processes_of_uvicorn.Process = ForkedProcess  # type: ignore[misc] # what it starts, it names nowhere else
    _loaded_main()  # once for all of them
    with counting_together():
        uvicorn.run(f"{__name__}:{application.__name__}", factory=True, workers=processes, **how)


def application() -> ASGIApp:
    """Return what this process serves."""
    if are_counted_together():
        count_in_files()
    create_app = _loaded_main()
    give_memory_back()
    sys.setswitchinterval(_SWITCH_SECONDS)
    with uncollected():
        app = create_app(settings_of_environment())
    gc.set_threshold(*_COLLECTED_AFTER)
    return app


def _loaded_main() -> Callable[[Settings], ASGIApp]:
    # The routes with their forms are more than a second of processor time, which no other command needs.
    with uncollected():
        from iotide_server.main import create_app  # noqa: PLC0415 - as the comment above says
    return create_app
