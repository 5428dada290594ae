"""Errors of accounts."""

from iotide_server.kit.errors import ErrorKind
from iotide_server.kit.web import STORABLE_REMEDY

CLUSTER_PUBLISHED = ErrorKind(409, "cluster_published", field="cluster", shows="name").says(
    "the cluster {name} holds published results, which cannot be changed",
    "choose another cluster; `iotide-server forget-published` removes all published results",
)
WRONG_CREDENTIALS = ErrorKind(401, "wrong_credentials").says(
    "wrong name or password", "try again, or ask an administrator for a sign-in link"
)
TOO_MANY_ATTEMPTS = ErrorKind(429, "too_many_attempts").says(
    "too many failed attempts; the next one is possible in {wait_seconds} s", "wait, then try again"
)
ONE_HEAVY_AT_A_TIME = ErrorKind(429, "one_at_a_time").says(
    "another expensive request of yours is running: a preview, a submission, a comparison or an export",
    "wait for it to finish, then try again",
)
LINK_SPENT = ErrorKind(401, "link_spent").says(
    "the sign-in link is unknown, expired or already used",
    "ask an administrator for a new one, or run `iotide-server admin-link` on the server",
)
PERSON_WANTED = ErrorKind(403, "person_wanted").says("an API token cannot {what}", "sign in with a browser")
SESSION_NOT_FOUND = ErrorKind(404, "session_not_found", field="session_id").says("you have no session {session_id}")
PASSWORD_ELSEWHERE = ErrorKind(409, "password_elsewhere").says(
    "your password belongs to your organisation's account", "change it in that account"
)
TOKEN_NOT_FOUND = ErrorKind(404, "token_not_found", field="token_id").says("you have no API token {token_id}")
TOKEN_EXPIRED = ErrorKind(401, "token_expired").says(
    "the API token {name} expired on {expired_at:time}", "create a new one under Settings > Tokens"
)
LOGIN_EXPIRED = ErrorKind(422, "login_expired", field="asked_at").says(
    "asked_at: the login began at {asked_at:time}; it is valid for {minutes} minutes", "run `iotide login` again"
)
LOGIN_USED = ErrorKind(409, "login_used", field="secret_sha256", shows="").says(
    "this login was confirmed before", "run `iotide login` again"
)
USER_NOT_FOUND = ErrorKind(404, "user_not_found", field="user_id").says("there is no user {user_id}")
USER_NAME_UNKNOWN = ErrorKind(404, "user_not_found", field="name").says("there is no user {name}", "{remedy}")
USER_DISABLED = ErrorKind(409, "user_disabled", field="user_id", shows="name").says(
    "{name} is disabled and cannot sign in", "ask an administrator to enable {name} under Settings > People first"
)
USER_NAME_TAKEN = ErrorKind(409, "user_name_taken", field="name").says(
    "there is already a user {name}", "choose another name"
)
OWN_ACCOUNT = ErrorKind(409, "own_account", field="user_id").says(
    "you cannot {what}", "ask another administrator to do it"
)
EXPIRY_PASSED = ErrorKind(422, "expiry_passed", field="expires_at").says(
    "expires_at: {expires_at} is in the past", "give a time in the future, or null for a token that does not expire"
)
CURSOR_OF_NOTHING = ErrorKind(422, "invalid_input", field="cursor", shows="entry_id").says(
    "cursor: invalid", "send next_cursor of the previous page unchanged"
)
NO_WORD = ErrorKind(422, "invalid_input", field="text").says(
    "text: contains no word", "give at least one letter or digit"
)
UNSTORABLE_FILTER = ErrorKind(422, "invalid_input", field="{field}").says(
    "{field}: contains characters that cannot be stored", STORABLE_REMEDY
)
GRANTED_CLUSTER_NOT_FOUND = ErrorKind(404, "cluster_not_found", field="roles", shows="lowest").says(
    "there is no cluster {cluster_ids:sorted}"
)
