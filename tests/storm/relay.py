"""Forwarder of TCP connections from one address to another, so that the network between them can be cut.

relay.py LISTEN_HOST:PORT=CONNECT_HOST:PORT...
"""

import asyncio
import contextlib
import sys


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()
    writer.close()


async def _serve(listen: tuple[str, int], connect: tuple[str, int]) -> asyncio.Server:
    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(*connect)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))

    return await asyncio.start_server(pass_on, *listen)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


async def main(pairs: list[str]) -> None:
    """Serve until killed."""
    servers = [await _serve(_address(listen), _address(connect)) for listen, connect in (p.split("=") for p in pairs)]
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
