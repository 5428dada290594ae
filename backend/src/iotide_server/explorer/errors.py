"""What can go wrong with the table of runs."""

from iotide_server.kit.errors import ErrorKind

MOST_VIEWS = 100

WORKLOAD_WANTED = ErrorKind(422, "workload_wanted", field="sort").says(
    "sort: {sort} needs one workload", "name a workload, or sort by time"
)
VIEW_NOT_FOUND = ErrorKind(404, "view_not_found", field="view_id").says("you have no view {view_id}")
VIEW_NAME_TAKEN = ErrorKind(409, "view_name_taken", field="name").says(
    "you have a view {name} already", "choose another name, or change it"
)
TOO_MANY_VIEWS = ErrorKind(409, "too_many_views").says(
    f"you have {MOST_VIEWS} views already", "remove one that you no longer use"
)
USER_WANTED = ErrorKind(403, "user_wanted").says("views are kept for users", "sign in, or use the token of a user")
READING_TOKEN = ErrorKind(403, "reading_token").says(
    "the token may only read, and a view would be changed",
    "use a token of the scope operate of somebody who is an operator, or change views in a browser",
)
