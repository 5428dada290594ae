"""The parent of the API's processes."""

import os
import signal

import pytest
import uvicorn

from iotide_server.commands.serving import ForkedProcess


# Python 3.12 warns if a process with several threads forks, such as pytest's workers; the API's parent has one
# thread.
@pytest.mark.filterwarnings("ignore:.*use of fork\\(\\) may lead to deadlocks:DeprecationWarning")
def test_the_end_of_a_starting_process_is_noticed_during_its_health_check() -> None:
    process = ForkedProcess(uvicorn.Config("nothing:here", log_config=None), [])
    process.start()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    assert not process.ping(timeout=3600.0)
    process.kill()
    process.join()
