"""The `api` command."""

from pathlib import Path
from typing import Annotated

import typer

from iotide_server.bundled.ports import API_PORT
from iotide_server.commands.opening import require_served_schema, settings_of_environment
from iotide_server.commands.options import PortOption
from iotide_server.commands.serving import MOST_PROCESSES, Listen, serve, usual_processes
from iotide_server.kit.logs import configure_logs


def api(
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: PortOption = API_PORT,
    tls_chain: Annotated[Path | None, typer.Option(help="Certificate chain, PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Private key of the certificate, PEM.")] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            envvar="IOTIDE_API_PROCESSES",
            min=1,
            max=MOST_PROCESSES,
            help="Number of API processes; default one per CPU, 2 to 4.",
        ),
    ] = None,
) -> None:
    """Run the API server, which also serves the dashboard."""
    settings = settings_of_environment()
    configure_logs("api", settings.log_format)
    require_served_schema(settings)
    serve(Listen(host, port, tls_chain, tls_key), processes or usual_processes())
