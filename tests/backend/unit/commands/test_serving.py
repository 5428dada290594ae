"""The parent of the API's processes."""

import os
import signal

import uvicorn

from iotide_server.commands.serving import HeardProcess


def test_the_end_of_a_process_that_still_starts_is_heard_while_its_sign_of_life_is_waited_for() -> None:
    process = HeardProcess(uvicorn.Config("nothing:here", log_config=None), [])
    process.start()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    assert not process.ping(timeout=3600.0)
    process.kill()
    process.join()
