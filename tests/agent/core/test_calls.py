"""Handling of HTTP answers: only the server itself can decide about an order."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from agent.made_orders import make_order

from iotide_agent.core.calls import Speaker
from iotide_agent.core.clock import ServerClock
from iotide_agent.core.protocol import Acknowledged, ClaimRefused, ClaimUnanswered, UploadFailed
from iotide_agent.core.spool import Spool
from iotide_agent.core.transport import Transport
from iotide_agent.orders.parsing import Verdict
from iotide_agent.orders.results import refusal
from iotide_wire.messages import Outcome

OWN = b'{"error": {"code": "stale_fence", "message": "another attempt has this order", "remedy": null}}'
FOREIGN = [b"<html>404 Not Found</html>", b'{"detail": "Not Found"}', b'{"error": "not found"}', b"[]", b""]

Speaking = Callable[[int, bytes], Speaker]


@pytest.fixture
def speaking(tmp_path: Path) -> Iterator[Speaking]:
    """Return a speaker that gets the same answer to every request."""
    answer: list[tuple[int, bytes]] = []

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            status, body = answer[-1]
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    transport = Transport(f"http://127.0.0.1:{server.server_port}", "token", None)
    spool = Spool(tmp_path)
    spool.prepare()
    spool.keep_order(make_order())
    spool.keep_result(1, refusal(make_order(), "instance-1", Verdict(Outcome.FINISHED, None, None)))

    def make(status: int, body: bytes) -> Speaker:
        answer.append((status, body))
        return Speaker(transport, spool, ServerClock(), "instance-1", "boot-id-1")

    yield make
    transport.close()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("status", [302, 401, 404, 410, 413])
@pytest.mark.parametrize("body", FOREIGN)
def test_a_result_outlives_what_a_proxy_says_of_it(speaking: Speaking, status: int, body: bytes) -> None:
    speaker = speaking(status, body)
    before = speaker.spool.result(1)
    assert speaker.upload(1) == UploadFailed(1)
    assert speaker.spool.result(1) == before


def test_a_result_that_the_server_itself_no_longer_wants_is_done(speaking: Speaking) -> None:
    assert speaking(409, OWN).upload(1) == Acknowledged(1)


def test_a_result_that_the_server_rejects_is_replaced_by_the_rejection(speaking: Speaking) -> None:
    speaker = speaking(422, OWN)
    assert speaker.upload(1) == UploadFailed(1)
    assert speaker.spool.result(1).reason_code == "result_refused"


def test_an_offer_is_given_up_for_the_servers_own_word_alone(speaking: Speaking) -> None:
    assert speaking(404, FOREIGN[0]).claim(1, 10) == ClaimUnanswered(1, 10)
    assert speaking(404, OWN).claim(1, 10) == ClaimRefused(1, 10)
