"""Ports of the machine's loopback that lead to those of the host's: server and Redis listen there only."""

import asyncio
from contextlib import suppress
from typing import Final

HOST: Final = "10.0.2.2"
"""The host's loopback, as the user network of QEMU shows it."""
_READ_BYTES: Final = 65536


def forward(*ports: int) -> None:
    """Forward each port; never returns."""
    asyncio.run(_serve(ports))


async def _serve(ports: tuple[int, ...]) -> None:
    for port in ports:

        async def joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int = port) -> None:
            other_reader, other_writer = await asyncio.open_connection(HOST, port)
            await asyncio.gather(_copy(reader, other_writer), _copy(other_reader, writer))

        await asyncio.start_server(joined, "127.0.0.1", port)
    await asyncio.Event().wait()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(_READ_BYTES):
            writer.write(data)
            await writer.drain()
    writer.close()
