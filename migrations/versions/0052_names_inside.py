"""stored sentences contain no names: they say `an operator`, and a column has the actor

Compatible with the previous release, which shows `an operator` to all readers. Sentences that it stores meanwhile
contain names; readers who are not signed in do not see them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0050"
branch_labels = None
depends_on = None

_COLUMNS = {"run": "reason_actor", "attempt": "reason_actor", "run_event": "actor", "node": "problem_actor"}

# Stored sentences with a name, as written by releases up to 0.2.0: the text before the name, the name, and the text
# after it. In a run's log the text before also has the node and outcome, or the number of attempts of an abandoned
# run.
_PREFIX = r"(?:[^ ]+: [a-z]+: |[a-z]+ (?:[0-9]+ times|in attempt [0-9]+), the last time because: )?"
_NAME = r"[^ ]+(?: \(.*\))?"
_SENTENCES = (
    rf"^({_PREFIX}cancelled by |added by |to be tried again, asked for by )({_NAME})()$",
    rf"^(read again by )({_NAME})(: by the parser of .*)$",
    rf"^({_PREFIX})({_NAME})( called [^ ]+ dead, silent since .*| revoked [^ ]+ at .*)$",
)
_PERSON_IN = f"""
    CREATE FUNCTION person_in(words text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
        SELECT coalesce({", ".join(f"regexp_match(words, '{sentence}')" for sentence in _SENTENCES)})
    $$
"""
# Replaces the first `an operator` of the sentence with the name for readers who may see it; see `kit/people.py`. For
# other readers, a name stored by the previous release after this migration is removed.
_WORDED = """
    CREATE FUNCTION worded(words text, actor text, with_names boolean) RETURNS text LANGUAGE sql STABLE AS $$
        SELECT CASE
            WHEN NOT with_names THEN coalesce(
                (SELECT parts[1] || 'an operator' || parts[3] FROM person_in(words) AS parts), words)
            WHEN actor IS NULL OR position('an operator' IN words) = 0 THEN words
            ELSE coalesce(overlay(words PLACING CASE split_part(actor, ':', 1)
                WHEN 'user' THEN (
                    SELECT name FROM user_account WHERE id = CAST(split_part(actor, ':', 2) AS bigint))
                WHEN 'token' THEN (
                    SELECT user_account.name || ' (token ' || api_token.name || ')'
                    FROM api_token JOIN user_account ON user_account.id = api_token.user_id
                    WHERE api_token.id = CAST(split_part(actor, ':', 2) AS bigint))
                END FROM position('an operator' IN words) FOR length('an operator')), words)
            END
    $$
"""
_ACTOR = """
    CREATE FUNCTION pg_temp.actor_of(person text) RETURNS text LANGUAGE sql STABLE AS $$
        SELECT coalesce(
            (SELECT 'user:' || id FROM user_account WHERE name = person),
            (SELECT 'token:' || max(api_token.id)
             FROM api_token JOIN user_account ON user_account.id = api_token.user_id
             WHERE user_account.name || ' (token ' || api_token.name || ')' = person),
            (SELECT 'user:' || id FROM user_account WHERE name = split_part(person, ' ', 1)))
    $$
"""
_STORED = (
    ("run", "reason", "reason_code IN ('cancelled_by_person', 'node_dead', 'node_revoked')"),
    ("attempt", "reason", "reason_code IN ('cancelled_by_person', 'node_dead', 'node_revoked')"),
    (
        "run_event",
        "text",
        "kind IN ('cancel_wanted', 'cancelled', 'retried', 'added', 'read_again', 'lost', 'withdrawn')",
    ),
    ("node", "problem", "problem IS NOT NULL"),
)
# A schedule submits its plan as its owner, and an alert its confirmation runs.
_REFUSED = r"^[^ ]+ \((?:schedule|confirms alert) .*\)( is not (?:viewer|operator|admin) .*)$"

_OWNED = (("firing", "problem", "the schedule's owner"), ("alert_action", "comment", "the owner of the campaign"))


def upgrade() -> None:
    # In separate transactions, so that no lock is held while the sentences are searched. Repeatable.
    with op.get_context().autocommit_block():
        for table, column in _COLUMNS.items():
            op.execute(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {column} varchar")
    for function in (_PERSON_IN, _WORDED, _ACTOR):
        op.execute(function)
    for table, words, condition in _STORED:
        op.execute(
            f"""
            UPDATE {table} SET {words} = named.parts[1] || 'an operator' || named.parts[3],
                               {_COLUMNS[table]} = pg_temp.actor_of(named.parts[2])
            FROM (SELECT id, person_in({words}) AS parts FROM {table} WHERE {condition}) AS named
            WHERE named.id = {table}.id AND named.parts IS NOT NULL
            """  # noqa: S608 - made of the constants above
        )
    for table, column, owner in _OWNED:
        replaced = f"regexp_replace({column}, :refused, :owner) WHERE {column} ~ :refused"
        statement = sa.text(f"UPDATE {table} SET {column} = {replaced}")  # noqa: S608 - as above
        op.get_bind().execute(statement, {"refused": _REFUSED, "owner": owner + r"\1"})
    op.execute("DROP FUNCTION pg_temp.actor_of(text)")


def downgrade() -> None:
    # Sentences keep `an operator`, because the previous release cannot show more.
    op.execute("DROP FUNCTION worded(text, text, boolean), person_in(text)")
    for table, column in _COLUMNS.items():
        op.drop_column(table, column)
