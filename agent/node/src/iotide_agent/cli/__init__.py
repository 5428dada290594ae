"""The commands `iotide-agent` and `iotide`.

Each is loaded without the garbage collector, which finds next to nothing there and takes a sixth of the time.
"""

import gc


def start_agent() -> None:
    """Run `iotide-agent`."""
    gc.disable()
    from iotide_agent.cli.agent import main  # noqa: PLC0415 - loaded without the collector

    _collect_from_now_on()
    main()


def start_user() -> None:
    """Run `iotide`."""
    gc.disable()
    from iotide_agent.cli.user import main  # noqa: PLC0415 - loaded without the collector

    _collect_from_now_on()
    main()


def _collect_from_now_on() -> None:
    gc.freeze()  # what was loaded stays to the end
    gc.enable()
