"""Has the root helper of scratch disks perform operations on a set, one after another, and waits for each.

Usage: scratch_set.py SOCKET PACKETS

PACKETS is a JSON array of the helper's requests. Prints one line of JSON per operation: its record, with each command
of root, its exit status and its seconds. While an operation runs, its present step goes to stderr. Exits with 1 at the
first operation that is refused or fails. The helper continues an operation if this program is ended. Runs with
`python -I -S`.
"""

import json
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any, Final

_POLL_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 30.0
_LARGEST_ANSWER_BYTES: Final = 256 * 1024
_SAME: Final = ("verb", "order", "fence")


class EndedError(Exception):
    """An operation was refused or failed."""


def main(arguments: list[str]) -> int:
    try:
        path, packets = arguments
        requests = json.loads(packets)
    except ValueError:
        sys.stderr.write(__doc__ or "")
        return 2
    try:
        for request in requests:
            _print(_perform(path, request))
    except (EndedError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _perform(path: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of one operation; raise EndedError with the helper's reason.

    A record that was there before the request is that of another operation: the helper was ended before it could
    store one.
    """
    status = json.dumps({"verb": "status", "set": request["set"]}).encode()
    before = _wait(path, status)["last"].get(request["set"])
    asked_s = int(time.time())
    refused = _ask(path, json.dumps(request).encode()).get("refused")
    if refused is not None:
        raise EndedError(f"{request['verb']}: {refused}")
    record: dict[str, Any] = _wait(path, status)["last"].get(request["set"])
    is_own = record is not None and all(record[key] == request.get(key, 0) for key in _SAME)
    # The same operation again can have the same record within a second. The clock may have been set back.
    if not is_own or (record == before and record["began_s"] < asked_s):
        raise EndedError(f"{request['verb']}: the helper has no record of it")
    if record["outcome"] != "done":
        _print(record)
        raise EndedError(f"{request['verb']}: {record['outcome']}: {record['reason']}")
    return record


def _wait(path: str, status: bytes) -> dict[str, Any]:
    """Wait until no operation runs, and report the steps of one that does; return the status then."""
    shown = None
    while (running := (found := _status_in(_ask(path, status)))["running"]) is not None:
        step = {key: running[key] for key in ("verb", "step", "progress")}
        if step != shown:
            sys.stderr.write(f"{json.dumps(step)}\n")
            sys.stderr.flush()
            shown = step
        time.sleep(_POLL_SECONDS)  # the helper answers and never calls
    return found


def _status_in(answer: dict[str, Any]) -> dict[str, Any]:
    if "running" not in answer:
        raise EndedError(f"status: {answer.get('refused', 'the helper gave no answer')}")
    return answer


def _ask(path: str, packet: bytes) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
        asking.settimeout(_PATIENCE_SECONDS)
        asking.connect(path)
        asking.send(packet)
        answer: dict[str, Any] = json.loads(asking.recv(_LARGEST_ANSWER_BYTES) or b"{}")
    return answer


def _print(record: Mapping[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(record)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
