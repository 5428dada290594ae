"""Errors of the table of runs."""

from iotide_server.kit.errors import ErrorKind

MOST_VIEWS = 100

WORKLOAD_WANTED = ErrorKind(422, "workload_wanted", field="sort").says(
    "sort: {sort} needs one workload", "choose a workload, or sort by time"
)
VIEW_NOT_FOUND = ErrorKind(404, "view_not_found", field="view_id").says("you have no view {view_id}")
VIEW_NAME_TAKEN = ErrorKind(409, "view_name_taken", field="name").says(
    "you already have a view {name}", "choose another name, or change that view"
)
TOO_MANY_VIEWS = ErrorKind(409, "too_many_views").says(
    f"you already have {MOST_VIEWS} views", "remove one that you no longer use"
)
USER_WANTED = ErrorKind(403, "user_wanted").says("views belong to users", "sign in, or use a user's token")
READING_TOKEN = ErrorKind(403, "reading_token").says(
    "the token is read-only and cannot change views",
    "use an operator's token with the scope operate, or change views in a browser",
)
