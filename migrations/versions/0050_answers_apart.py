"""a receiver's answer is stored separately from an attempt's text; only administrators of all clusters may read it

Compatible with the previous release, which shows the text.
"""

from alembic import op

revision = "0050"
down_revision = "0045"
branch_labels = None
depends_on = None

_BY_HTTP = "WORDS ~ '^HTTP [0-9]{3}: ' AND WORDS NOT LIKE 'HTTP ___: a redirect, which is not followed%'"
# An SMTP reply, such replies by recipient, or the line that arrived instead of HTTP.
_OTHERWISE = "WORDS ~ '^(-?[0-9]+ |[^ ]+@[^ ]+: |(BadStatusLine|UnknownProtocol): )'"
_STORED = "an answer that an earlier release stored"
_DELIVERIES = f"""
    UPDATE delivery SET attempts = (
        SELECT jsonb_agg(
            CASE WHEN {_BY_HTTP} THEN attempt || jsonb_build_object('words', substr(WORDS, 1, 8), 'answer', substr(WORDS, 11))
                 WHEN {_OTHERWISE} THEN attempt || jsonb_build_object('words', '{_STORED}', 'answer', WORDS)
                 ELSE attempt END ORDER BY place)
        FROM jsonb_array_elements(attempts) WITH ORDINALITY AS tried (attempt, place))
    WHERE attempts <> '[]'
"""  # noqa: S608 - made of the constants above
_CHANNELS = f"""
    UPDATE channel SET failure = CASE WHEN {_BY_HTTP} THEN substr(WORDS, 1, 8)
                                      WHEN {_OTHERWISE} THEN '{_STORED}'
                                      ELSE failure END
    WHERE failure IS NOT NULL
"""  # noqa: S608 - as above


def upgrade() -> None:
    op.execute(_DELIVERIES.replace("WORDS", "(attempt ->> 'words')"))
    op.execute(_CHANNELS.replace("WORDS", "failure"))


def downgrade() -> None:
    """The text has the status there too."""
