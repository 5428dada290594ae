"""Delivery of messages to real receivers: retries, final failures, and the record of each attempt."""

import base64
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from factories.clock import MovedClock
from factories.receivers import MailReceiver, WebReceiver, mail_receiver, web_receiver
from services import temporary_state

from iotide_server.bundled.tls import Certificates, prepare_certificates
from iotide_server.kit.db import Database
from iotide_server.kit.vault import Vault
from iotide_server.kit.work import HELD_FOR, run_errand
from iotide_server.notifications.addresses import Reach
from iotide_server.notifications.deliveries import Office
from iotide_server.notifications.models import Channel, Delivery
from iotide_server.notifications.sending import Courier
from iotide_server.notifications.service import DELIVERY, Message, announce

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
VAULT = Vault(base64.b64encode(b"v" * 32).decode())
LOOPBACK = Reach(loopback=True)


class Post:
    """One channel with one queued message, and the worker that delivers it."""

    def __init__(self, database: Database, clock: MovedClock) -> None:
        self.database = database
        self.clock = clock
        self.office = self.office_with(VAULT, Courier(LOOPBACK))
        self.delivery_id = 0

    def office_with(self, vault: Vault | None, courier: Courier) -> Office:
        return Office(vault, courier, "https://tide.example.org/", self.clock)

    def queue_message(self, kind: str, settings: dict[str, Any], secrets: dict[str, str], **fields: Any) -> None:  # noqa: ANN401
        with self.database.transaction() as session:
            sealed = VAULT.seal(secrets) if secrets else None
            channel = Channel(name="c", kind=kind, settings=settings, sealed=sealed, **fields)
            session.add(channel)
            session.flush()
            message = Message("alert", None, "write is slower", "by 12 %", "/alerts/12", {"alert_id": 12})
            announce(session, message, channel_ids=[channel.id], key="alert 12", now=self.clock())
            self.delivery_id = session.query(Delivery).one().id

    def queue_for_hook(self, url: str, **fields: Any) -> None:  # noqa: ANN401
        self.queue_message("webhook", {"url": url}, {"secret": SECRET}, **fields)

    def carry(self, after_seconds: float = 0) -> Delivery:
        """Run the worker on the row, that much later; return the delivery."""
        now = self.clock.move(after_seconds)
        run_errand(self.database, self.office.errand, DELIVERY, self.delivery_id, now)
        with self.database.transaction() as session:
            return session.get_one(Delivery, self.delivery_id)

    def channel(self) -> Channel:
        with self.database.transaction() as session:
            return session.query(Channel).one()


@pytest.fixture
def post(database: Database, clock: MovedClock) -> Post:
    return Post(database, clock)


@pytest.fixture
def hook() -> Iterator[WebReceiver]:
    with web_receiver() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def certificates() -> Iterator[Certificates]:
    with temporary_state() as state:
        yield prepare_certificates(state, names=[], now=datetime.now(UTC))  # TLS compares with the machine's clock


@pytest.fixture(scope="module")
def server_tls(certificates: Certificates) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates.chain, certificates.key)
    return context


@pytest.fixture
def trusting(post: Post, certificates: Certificates) -> None:
    """Make the courier trust the authority of these tests."""
    trust = ssl.create_default_context(cafile=str(certificates.ca))
    post.office = post.office_with(VAULT, Courier(LOOPBACK, trust))


def words(delivery: Delivery) -> list[str]:
    return [attempt["words"] for attempt in delivery.attempts]


def answers(delivery: Delivery) -> list[str | None]:
    return [attempt["answer"] for attempt in delivery.attempts]


def test_a_receiver_that_is_down_is_tried_again_with_the_same_id_until_it_answers(
    post: Post, hook: WebReceiver
) -> None:
    hook.answer(503, 429, 200, Retry_After="90")
    post.queue_for_hook(hook.url)
    first = post.carry()
    assert (first.state, first.due_at) == ("waiting", post.clock() + timedelta(seconds=90))
    assert post.channel().failure == "HTTP 503 Service Unavailable"
    assert post.carry(89).attempts == first.attempts  # sent too early, by a duplicate message
    post.carry(1)
    last = post.carry(90)
    assert (last.state, words(last), last.due_at, last.ended_at) == (
        "delivered",
        ["HTTP 503 Service Unavailable", "HTTP 429 Too Many Requests", "HTTP 200"],
        None,
        post.clock(),
    )
    assert post.channel().delivered_at == post.clock()
    assert post.carry(3600).attempts == last.attempts
    assert len({received.headers["webhook-id"] for received in hook.received}) == 1
    assert len({received.body for received in hook.received}) == 1
    assert [
        int(received.headers["webhook-timestamp"]) - int(hook.received[0].headers["webhook-timestamp"])
        for received in hook.received
    ] == [0, 90, 180]


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (404, {}, "HTTP 404 Not Found"),
        (410, {}, "HTTP 410 Gone"),
        (
            302,
            {"Location": "http://169.254.169.254/"},
            "HTTP 302: redirects are not followed; use the final URL",
        ),
    ],
)
def test_errors_of_the_sender_are_not_retried(
    post: Post, hook: WebReceiver, status: int, headers: dict[str, str], said: str
) -> None:
    hook.answer(status, **headers)
    post.queue_for_hook(hook.url)
    delivery = post.carry()
    assert (delivery.state, words(delivery), delivery.due_at) == ("failed", [said], None)
    assert (post.channel().failure, len(hook.received)) == (said, 1)


def test_an_unreachable_receiver_is_tried_for_a_day_and_no_longer(post: Post, hook: WebReceiver) -> None:
    hook.answer(500)
    post.queue_for_hook(hook.url)
    begun = post.clock()
    delivery = post.carry()
    while delivery.due_at is not None:
        delivery = post.carry((delivery.due_at - post.clock()).total_seconds())
    assert (delivery.state, len(delivery.attempts)) == ("failed", len(hook.received))
    assert timedelta(hours=22) < post.clock() - begun <= timedelta(hours=24)


def test_a_worker_that_dies_on_the_way_is_followed_by_another_with_the_same_id(
    post: Post, hook: WebReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send_and_die(courier: Courier, parcel: Any) -> None:  # noqa: ANN401
        original(courier, parcel)
        raise KeyboardInterrupt

    original = Courier.send
    post.queue_for_hook(hook.url)
    with monkeypatch.context() as patch:
        patch.setattr(Courier, "send", send_and_die)
        with pytest.raises(KeyboardInterrupt):
            post.carry()
    delivery = post.carry(HELD_FOR.total_seconds())
    assert (delivery.state, words(delivery)) == ("delivered", [None, "HTTP 204"])
    assert len({received.headers["webhook-id"] for received in hook.received}) == 1


def test_an_attempt_that_falls_into_quiet_hours_waits_for_their_end(post: Post, hook: WebReceiver) -> None:
    hook.answer(500, 200)
    post.queue_for_hook(hook.url, quiet_hours={"from": "10:01", "until": "12:00", "time_zone": "UTC"})
    post.carry()
    noon = post.clock() + timedelta(hours=2)
    waiting = post.carry(60)
    assert (len(waiting.attempts), waiting.due_at) == (1, noon)
    assert post.carry(2 * 3600 - 60).state == "delivered"


def test_the_answer_of_a_receiver_is_stored_short_and_without_the_secret(post: Post, hook: WebReceiver) -> None:
    hook.answer(400, body=f"no {SECRET} here\0 " + "x" * 9000)
    post.queue_for_hook(hook.url)
    (attempt,) = post.carry().attempts
    assert attempt["words"] == "HTTP 400 Bad Request"
    assert attempt["answer"].startswith("no *** here x")
    assert len(attempt["answer"]) < 310


def test_the_address_of_a_chat_is_kept_from_its_answer(post: Post, hook: WebReceiver) -> None:
    hook.answer(404, body="no route POST /services/T0/sesame")
    post.queue_message("slack", {"host": "127.0.0.1"}, {"url": f"{hook.url}/services/T0/sesame"})
    assert answers(post.carry()) == ["no route POST ***"]
    assert b"write is slower" in hook.received[0].body


def test_secrets_sealed_with_another_key_are_asked_for_again(post: Post, hook: WebReceiver) -> None:
    post.queue_for_hook(hook.url)
    for vault in (None, Vault(base64.b64encode(b"w" * 32).decode())):
        post.office = post.office_with(vault, Courier(LOOPBACK))
    delivery = post.carry()
    assert delivery.state == "failed"
    assert "IOTIDE_VAULT_KEY has changed" in words(delivery)[0]
    assert hook.received == []


def test_loopback_is_refused_unless_the_server_allows_it(post: Post, hook: WebReceiver) -> None:
    post.office = post.office_with(VAULT, Courier(Reach()))
    post.queue_for_hook(hook.url)
    assert words(post.carry()) == ["127.0.0.1 is the server itself: sending there is not allowed"]
    assert hook.received == []


@pytest.mark.usefixtures("trusting")
def test_a_webhook_goes_by_tls_to_a_receiver_with_a_trusted_certificate(post: Post, server_tls: ssl.SSLContext) -> None:
    with web_receiver(server_tls) as hook:
        post.queue_for_hook(hook.url)
        assert words(post.carry()) == ["HTTP 204"]


def test_a_receiver_without_a_trusted_certificate_gets_nothing_yet(post: Post, server_tls: ssl.SSLContext) -> None:
    with web_receiver(server_tls) as hook:
        post.queue_for_hook(hook.url)
        delivery = post.carry()
        assert (delivery.state, hook.received) == ("waiting", [])
        assert "CERTIFICATE_VERIFY_FAILED" in words(delivery)[0]


def mail_to(receiver: MailReceiver, tls: str, user: str | None = None) -> dict[str, Any]:
    return {
        "host": "127.0.0.1",
        "port": receiver.port,
        "tls": tls,
        "user": user,
        "sender": "tide@example.org",
        "recipients": ["ada@example.org", "bob@example.org"],
    }


@pytest.mark.usefixtures("trusting")
@pytest.mark.parametrize("tls", ["starttls", "tls"])
def test_mail_is_delivered_by_tls_after_authentication(post: Post, server_tls: ssl.SSLContext, tls: str) -> None:
    with mail_receiver(**{tls: server_tls}) as receiver:
        receiver.refused["bob@example.org"] = "550 no such user"
        post.queue_message("email", mail_to(receiver, tls, "tide"), {"password": "right"})
        delivery = post.carry()
    assert (delivery.state, words(delivery)) == ("delivered", ["SMTP 250; not delivered to bob@example.org: SMTP 550"])
    assert answers(delivery) == ["ok queued as 4711; no such user"]
    assert receiver.logins == [("tide", "right")]
    ((recipients, mail),) = receiver.mails
    assert recipients == ["ada@example.org", "bob@example.org"]
    assert "Subject: [iotide] write is slower" in mail
    assert "https://tide.example.org/alerts/12" in mail


def refuse(reply: str) -> Callable[[MailReceiver], None]:
    def all_recipients(receiver: MailReceiver) -> None:
        receiver.refused.update(dict.fromkeys(("ada@example.org", "bob@example.org"), reply))

    return all_recipients


@pytest.mark.parametrize(
    ("reply", "state", "status", "said"),
    [("550 unknown", "failed", "SMTP 550", "unknown"), ("451 later", "waiting", "SMTP 451", "later")],
)
def test_a_mail_is_tried_again_if_the_refusal_is_temporary(
    post: Post, reply: str, state: str, status: str, said: str
) -> None:
    with mail_receiver() as receiver:
        refuse(reply)(receiver)
        post.queue_message("email", mail_to(receiver, "none"), {})
        delivery = post.carry()
    assert (delivery.state, words(delivery)) == (state, [f"ada@example.org: {status}; bob@example.org: {status}"])
    assert answers(delivery) == [f"{said}; {said}"]


@pytest.mark.usefixtures("trusting")
def test_a_wrong_password_is_final_and_not_repeated(post: Post, server_tls: ssl.SSLContext) -> None:
    with mail_receiver(tls=server_tls) as receiver:
        post.queue_message("email", mail_to(receiver, "tls", "tide"), {"password": "sesame"})
        delivery = post.carry()
    assert (delivery.state, words(delivery)) == ("failed", ["SMTP 535"])
    assert answers(delivery) == ["wrong password ***"]


def test_no_mail_goes_in_the_open_where_tls_was_asked_for(post: Post) -> None:
    with mail_receiver() as receiver:
        post.queue_message("email", mail_to(receiver, "starttls"), {})
        delivery = post.carry()
    assert (delivery.state, receiver.mails) == ("failed", [])
    assert "STARTTLS" in words(delivery)[0]


def test_an_unreachable_mail_server_is_tried_again(post: Post) -> None:
    with mail_receiver() as receiver:
        settings = mail_to(receiver, "none")
    post.queue_message("email", settings, {})
    delivery = post.carry()
    assert delivery.state == "waiting"
    assert "refused" in words(delivery)[0]
