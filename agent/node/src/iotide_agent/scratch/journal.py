"""Log of the root program: one JSON object a line, on standard error, which systemd keeps in its journal."""

import json
import time
from collections.abc import Callable
from typing import Any, Final, TextIO

Listener = Callable[[dict[str, Any]], None]


class Journal:
    """Writes an event before and after each command and each change of a mark."""

    def __init__(self, stream: TextIO, listener: Listener | None = None) -> None:
        self._stream = stream
        self._listener = listener
        self._began = time.monotonic()
        self.commands: list[dict[str, Any]] = []
        """Ended commands with `argv`, `rc` and `seconds`."""

    def write(self, event: str, **words: Any) -> None:  # noqa: ANN401 - any JSON
        line: Final = {"event": event, "at_s": round(time.monotonic() - self._began, 3), **words}
        self._stream.write(json.dumps(line) + "\n")
        self._stream.flush()
        if event == "command_ended":
            self.commands.append(words)
        if self._listener is not None:
            self._listener(line)
