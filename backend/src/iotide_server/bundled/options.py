"""Options of the `up` command."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from iotide_server.kit.logs import LogFormat

LOOPBACK: Final = "127.0.0.1"
ANY_ADDRESS: Final = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound


@dataclass(frozen=True)
class UpOptions:
    state: Path
    listen: str | None  # for other hosts, with TLS; None: loopback without TLS
    # host name for other hosts; None: the address; for a wildcard, this host's name
    public_name: str | None
    port: int
    redis_port: int
    redis_tls_port: int
    # database_url, redis_url: None for private services
    database_url: str | None
    redis_url: str | None
    log_format: LogFormat = LogFormat.PLAIN

    @property
    def host(self) -> str:
        return self.listen or LOOPBACK

    @property
    def name(self) -> str:
        if self.public_name:
            return self.public_name
        if self.host not in ANY_ADDRESS:
            return self.host
        full = socket.getfqdn()
        return socket.gethostname() if full.startswith("localhost") else full

    @property
    def public_url(self) -> str:
        return f"{'https' if self.listen else 'http'}://{bracketed(self.name)}:{self.port}"

    @property
    def listening(self) -> Iterator[tuple[str, int, str]]:
        """Yield address and port of each socket, and the option that changes the port."""
        yield self.host, self.port, "--port"
        if self.redis_url is None:
            yield LOOPBACK, self.redis_port, "--redis-port"
            if self.listen:
                yield self.listen, self.redis_tls_port, "--redis-tls-port"


def bracketed(host: str) -> str:
    """Return the host as in a URL."""
    return f"[{host}]" if ":" in host else host
