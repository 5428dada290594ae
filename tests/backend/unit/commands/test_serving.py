"""The parent of the API's processes."""

import os
import signal

import pytest
import uvicorn

from iotide_server.commands.serving import ForkedProcess


# Python 3.12 warns where a process of several threads forks, as pytest's workers have; the API's parent has one.
@pytest.mark.filterwarnings("ignore:.*use of fork\\(\\) may lead to deadlocks:DeprecationWarning")
def test_the_end_of_a_process_that_still_starts_is_heard_while_its_sign_of_life_is_waited_for() -> None:
    process = ForkedProcess(uvicorn.Config("nothing:here", log_config=None), [])
    process.start()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    assert not process.ping(timeout=3600.0)
    process.kill()
    process.join()
