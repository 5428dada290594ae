import json
from dataclasses import replace
from datetime import UTC, datetime

from iotide_server.notifications.letters import Parcel, mail, mattermost_body, slack_body, webhook_body
from iotide_server.notifications.messages import Message

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
ALERT = Message(
    "alert", 1, "write on scratch_0 is 12 % slower", "since <b>noon</b> & on\n@all look", "/alerts/3", {"n": 3}
)


def parcel(kind: str, message: Message = ALERT, **settings: str | list[str]) -> Parcel:
    return Parcel(kind, settings, {}, message, "msg_7", "https://tide.example.org/alerts/3", NOW, NOW)


def test_a_webhook_carries_type_time_words_and_data() -> None:
    assert json.loads(webhook_body(parcel("webhook"))) == {
        "type": "alert",
        "timestamp": "2026-11-21T10:00:00+00:00",
        "cluster_id": 1,
        "subject": "write on scratch_0 is 12 % slower",
        "text": "since <b>noon</b> & on\n@all look",
        "url": "https://tide.example.org/alerts/3",
        "data": {"n": 3},
    }


def test_slack_shows_names_and_numbers_as_they_are_and_mentions_no_user() -> None:
    text = json.loads(slack_body(parcel("slack")))["text"]
    assert text.splitlines() == [
        "*write on scratch_0 is 12 % slower*",
        "since &lt;b&gt;noon&lt;/b&gt; &amp; on",
        "@all look",  # Slack's mention of a whole channel is <!channel>
        "<https://tide.example.org/alerts/3|Open in iotide>",
    ]


def test_mattermost_reads_no_markdown_or_call_out_of_a_name() -> None:
    text = json.loads(mattermost_body(parcel("mattermost")))["text"]
    assert text.splitlines()[0] == r"**write on scratch\_0 is 12 % slower**  "
    assert r"since \<b\>noon\</b\> & on  " in text
    assert "@all" not in text
    assert text.endswith("[Open in iotide](https://tide.example.org/alerts/3)")


def test_a_mail_has_one_message_id_and_no_line_of_a_subject_becomes_a_header() -> None:
    message = replace(ALERT, subject="slower\r\nBcc: all@example.org", text="Grüße von übermorgen")
    made = mail(parcel("email", message, sender="tide@example.org", recipients=["a@example.org", "b@example.org"]))
    assert made["Subject"] == "[iotide] slower Bcc: all@example.org"
    assert made["Bcc"] is None
    assert made["Message-ID"] == "<msg_7@example.org>"
    assert made["To"] == "a@example.org, b@example.org"
    assert made["Auto-Submitted"] == "auto-generated"
    assert made.get_content() == "Grüße von übermorgen\n\nhttps://tide.example.org/alerts/3\n"
