"""UDP sockets for another node of the run, one per load, opened before the run starts and closed at its end."""

import socket


class Sockets:
    def __init__(self) -> None:
        self._opened: list[socket.socket] = []

    def open(self, address: str, count: int) -> list[int]:
        """Open that number of sockets and return their ports; raise OSError without such an address."""
        ports = []
        for _ in range(count):
            opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._opened.append(opened)
            opened.bind((address, 0))
            ports.append(int(opened.getsockname()[1]))
        return ports

    def take(self, number: int) -> int:
        """Return the descriptor of socket `number`, from 0, once. The caller closes it."""
        return self._opened[number].detach()
