"""Several real processes that count together."""

import subprocess
import sys
from contextlib import ExitStack

from factories.metrics import Scraped

from iotide_server.monitoring.processes import counting_together

COUNTS = """
import os, sys
directory = os.environ.pop("PROMETHEUS_MULTIPROC_DIR") if sys.argv[2] == "forked" else None
from iotide_server.kit.meters import EVENT_STREAMS, HEARTBEATS, count_in_files
if directory is not None:
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = directory
    count_in_files()
HEARTBEATS.inc(int(sys.argv[1]))
EVENT_STREAMS.inc()
print(flush=True)
sys.stdin.read()
"""
"""A forked process loads its meters before it is set to count together with others."""
SCRAPES = """
from prometheus_client import generate_latest
from sqlalchemy import create_engine
from iotide_server.monitoring.exposition import ProcessMetrics, registry_of
engine = create_engine("postgresql+psycopg://nowhere/none", pool_size=3, max_overflow=1)
print(generate_latest(registry_of(ProcessMetrics("api", engine))).decode())
"""
PYTHON = (sys.executable, "-c")
CPU, RESIDENT = "process_cpu_seconds_total", "process_resident_memory_bytes"


def scrape() -> Scraped:
    return Scraped(subprocess.run([*PYTHON, SCRAPES], capture_output=True, text=True, check=True).stdout)


def test_each_process_reports_the_counters_of_all_and_the_gauges_of_the_live_ones() -> None:
    with counting_together(), ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", COUNTS, heartbeats, kind],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for heartbeats, kind in (("3", "forked"), ("4", "started"))
        ]
        for process in processes:
            assert process.stdout
            process.stdout.readline()
        both = scrape()
        processes[0].kill()
        processes[0].wait()
        one = scrape()
        processes[1].communicate()
    assert (both.value("iotide_heartbeats_total"), one.value("iotide_heartbeats_total")) == (7, 7)
    assert (both.value("iotide_event_streams"), one.value("iotide_event_streams")) == (2, 1)
    assert both.value("iotide_database_connections_limit") == one.value("iotide_database_connections_limit") == 4
    assert both.value(RESIDENT) > one.value(RESIDENT) > 1.5 * both.value(RESIDENT) / 3
    assert both.value("process_start_time_seconds") <= one.value("process_start_time_seconds")
    assert both.value(CPU) > 0
