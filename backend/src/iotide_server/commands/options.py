"""Options of several commands."""

from pathlib import Path
from typing import Annotated

import typer

from iotide_server.bundled.ports import MOST_PORT

StateOption = Annotated[
    Path | None,
    typer.Option(
        "--state",
        envvar="IOTIDE_STATE",
        help="State directory of the private services; default ~/.local/share/iotide, for root /var/lib/iotide.",
    ),
]
PortOption = Annotated[int, typer.Option(min=1, max=MOST_PORT, help="Port of the API and the dashboard.")]
ListenOption = Annotated[
    str | None,
    typer.Option(
        envvar="IOTIDE_LISTEN",
        help="Address for other hosts, with TLS (0.0.0.0: all interfaces); default loopback only.",
    ),
]
PublicNameOption = Annotated[
    str | None,
    typer.Option(
        envvar="IOTIDE_PUBLIC_NAME",
        help="Host name that other hosts use; default the address, or this host's name.",
    ),
]
