"""Entry points of the commands `iotide-agent` and `iotide`.

They load without garbage collection, which saves a sixth of the loading time.
"""

import gc


def start_agent() -> None:
    gc.disable()
    from iotide_agent.cli.agent import main  # noqa: PLC0415 - loaded without the collector

    _collect_from_now_on()
    main()


def start_user() -> None:
    gc.disable()
    from iotide_agent.cli.user import main  # noqa: PLC0415 - loaded without the collector

    _collect_from_now_on()
    main()


def _collect_from_now_on() -> None:
    gc.freeze()
    gc.enable()
