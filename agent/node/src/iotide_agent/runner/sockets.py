"""The sockets at which a run listens for another node: open before the run starts, and gone with it at the latest."""

import socket


class Sockets:
    """UDP sockets of one order, each for one load."""

    def __init__(self) -> None:
        self._opened: list[socket.socket] = []

    def open(self, address: str, count: int) -> list[int]:
        """Open as many at that address, and return the kernel's ports; raise OSError without such an address."""
        ports = []
        for _ in range(count):
            opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._opened.append(opened)
            opened.bind((address, 0))
            ports.append(int(opened.getsockname()[1]))
        return ports

    def take(self, number: int) -> int:
        """The descriptor of one of them, from 0, each once; who takes it closes it."""
        return self._opened[number].detach()
