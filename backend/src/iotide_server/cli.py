"""Entry point of `iotide-server` and each part of the server."""

from iotide_server.kit.loading import uncollected


def main() -> None:
    with uncollected():
        from iotide_server.commands.program import main as run_command  # noqa: PLC0415 - loaded within
    run_command()


if __name__ == "__main__":
    main()
