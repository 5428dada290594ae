"""Forwards TLS connections of other hosts to Redis on loopback.

Not every Redis has TLS, and one that does also opens its plain port.
"""

import argparse
import asyncio
import contextlib
import signal
import socket
import ssl
import sys
from functools import partial

from iotide_server.bundled.tls import Certificates
from iotide_server.kit.listening import open_as_many_files_as_allowed

_CHUNK_BYTES = 65_536
_HANDSHAKE_SECONDS = 10.0
# A dead host is detected after idle + interval x count seconds.
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 15), (socket.TCP_KEEPCNT, 4))


def relay_command(certificates: Certificates, *, host: str, port: int, redis_port: int) -> tuple[str, ...]:
    interpreter = (sys.executable, "-P", "-m", "iotide_server.bundled.relay")
    return (*interpreter, str(certificates.chain), str(certificates.key), host, str(port), str(redis_port))


async def serve(context: ssl.SSLContext, *, host: str, port: int, redis_port: int) -> asyncio.Server:
    return await asyncio.start_server(
        partial(_relay, redis_port=redis_port), host, port, ssl=context, ssl_handshake_timeout=_HANDSHAKE_SECONDS
    )


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, redis_port: int) -> None:
    client: socket.socket = writer.get_extra_info("socket")
    client.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        client.setsockopt(socket.IPPROTO_TCP, option, value)
    try:
        redis_reader, redis_writer = await asyncio.open_connection("127.0.0.1", redis_port)
    except OSError:
        writer.close()
        return
    tasks = [asyncio.create_task(_copy(reader, redis_writer)), asyncio.create_task(_copy(redis_reader, writer))]
    # If one side ends, the other has nothing to send.
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    for end in (writer, redis_writer):
        end.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):  # like a closed connection
        while chunk := await reader.read(_CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()


async def _run(context: ssl.SSLContext, host: str, port: int, redis_port: int) -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    server = await serve(context, host=host, port=port, redis_port=redis_port)
    await stopping.wait()
    server.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("chain", "key", "host"):
        parser.add_argument(name)
    parser.add_argument("port", type=int)
    parser.add_argument("redis_port", type=int)
    options = parser.parse_args()
    open_as_many_files_as_allowed()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(options.chain, options.key)
    asyncio.run(_run(context, options.host, options.port, options.redis_port))


if __name__ == "__main__":
    main()
