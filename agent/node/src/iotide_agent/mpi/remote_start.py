"""Program in the place of ssh: asks the runner of this node to start the command on another node of the run.

A launcher starts it with a host and a command, as it would start ssh. It exits with the status of the remote part.
Runs as a file of its own with `python -I -S`, and needs nothing else of iotide.
"""

import os
import signal
import socket
import sys

SOCKET = "IOTIDE_REMOTE_START"
"""Environment variable with the path of the runner's socket."""
ENDED = 0
REFUSED = 1
HERE = 2
"""First byte of the answer; then the exit status, the reason as text, or a command for this node itself."""
_FAILED = 255
"""As ssh: the remote part was not started, or its end is unknown."""


def main(words: list[str]) -> int:
    """Ask for the command and wait for its end; SIGTERM and SIGINT end this program, and so the remote part."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # a launcher may have had them ignored
    path = os.environ.get(SOCKET)
    if path is None:
        return _fail(f"{SOCKET} is not set; only a runner of iotide starts this program")
    request = "\0".join(words).encode(errors="surrogateescape")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
            directory = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)  # noqa: PTH120 - no Path: start-up time
            asked.connect(f"/proc/self/fd/{directory}/{os.path.basename(path)}")  # noqa: PTH119 - as above
            asked.sendall(len(request).to_bytes(4, "big") + request)
            length = int.from_bytes(_read(asked, 4), "big")
            answer = _read(asked, length)
    except (OSError, EOFError) as error:
        return _fail(f"the runner of this node does not answer: {error}")
    if answer[0] == REFUSED:
        return _fail(answer[1:].decode(errors="replace"))
    if answer[0] == HERE:
        argv = answer[1:].decode(errors="surrogateescape").split("\0")
        try:
            os.execv(argv[0], argv)  # noqa: S606 - an argument list, and no shell is meant
        except OSError as error:
            return _fail(f"{argv[0]} cannot be started: {error}")
    return answer[1]


def _read(asked: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = asked.recv(count - len(data))
        if not more:
            raise EOFError("it ended the connection")
        data += more
    return data


def _fail(reason: str) -> int:
    sys.stderr.write(f"iotide remote start: {reason}\n")
    return _FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
