"""Processes of the API, all on the same port."""

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
_ENOUGH_PROCESSES: Final = 4  # enough for 2,000 nodes (`./dev bench load`)
_LEAST_PROCESSES: Final = 2
_OPEN_REQUESTS_SECONDS: Final = 5
_IDLE_CONNECTION_SECONDS: Final = 75
"""Longer than agents and nginx keep idle connections (60 s), so that clients close them first."""
_HANGS_AFTER_SECONDS: Final = 60  # unresponsive processes are replaced
_SWITCH_SECONDS: Final = 0.0005
"""A computing thread yields to the event loop after this time; the loop waits for it at each system call."""
# default 700; each request creates and drops thousands of objects
_COLLECTED_AFTER: Final = (5_000, 10, 10)


_PARENT_SIGNALS: Final = frozenset(signal.Signals(number) for number in processes_of_uvicorn.SIGNALS)
_FORKING: Final = multiprocessing.get_context("fork")


class ForkedProcess(processes_of_uvicorn.Process):
    """Process forked from a parent that has loaded the application, with one thread and no connections.

    uvicorn 0.54 would start a new Python, which takes a second of CPU time. It also keeps the child's end of the pipe
    open in the parent, which then cannot notice a killed child. `start` closes it. Remove this when uvicorn does so
    (https://github.com/Kludex/uvicorn/blob/main/uvicorn/supervisors/multiprocess.py).
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket]) -> None:
        super().__init__(config, sockets)
        self._parent_pid = os.getpid()
        self.process = _FORKING.Process(target=self._serve, args=(sockets,))  # type: ignore[assignment] # not spawned

    def start(self) -> None:
        # Otherwise the parent's handlers in the child could consume a signal.
        signal.pthread_sigmask(signal.SIG_BLOCK, _PARENT_SIGNALS)
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _PARENT_SIGNALS)
        self.child_conn.close()

    def _serve(self, sockets: list[socket]) -> None:
        die_with_parent(self._parent_pid, signal.SIGKILL)  # children of a killed parent would keep its port
        for number in _PARENT_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _PARENT_SIGNALS)
        self.parent_conn.close()
        self.target(sockets)


@dataclass(frozen=True, slots=True)
class Listen:
    """TLS if chain and key (PEM) are given."""

    host: str
    port: int
    tls_chain: Path | None
    tls_key: Path | None


def usual_processes() -> int:
    """Return one per CPU, at least two (one serves while the other is replaced) and at most four."""
    return min(_ENOUGH_PROCESSES, max(_LEAST_PROCESSES, len(os.sched_getaffinity(0))))


def serve(listen: Listen, processes: int) -> None:
    """Serve until a signal, replacing processes that end."""
    open_as_many_files_as_allowed()
    how: dict[str, Any] = {
        "host": listen.host,
        "port": listen.port,
        "ssl_certfile": listen.tls_chain,
        "ssl_keyfile": listen.tls_key,
        "access_log": False,
        "proxy_headers": False,  # kit/proxies.py does it; uvicorn would trust local clients
        "log_config": None,  # uvicorn's lines go to our log
        "http": BoundedProtocol,
        "timeout_keep_alive": _IDLE_CONNECTION_SECONDS,
        # Change feed streams never end.
        "timeout_graceful_shutdown": _OPEN_REQUESTS_SECONDS,
        "timeout_worker_healthcheck": _HANGS_AFTER_SECONDS,
    }
    if processes == 1:
        uvicorn.run(application(), **how)
        return
    processes_of_uvicorn.Process = ForkedProcess  # type: ignore[misc] # a class is assigned
    _loaded_main()
    with counting_together():
        uvicorn.run(f"{__name__}:{application.__name__}", factory=True, workers=processes, **how)


def application() -> ASGIApp:
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
    # More than a second of CPU time, which other commands do not need.
    with uncollected():
        from iotide_server.main import create_app  # noqa: PLC0415 - as the comment above says
    return create_app
