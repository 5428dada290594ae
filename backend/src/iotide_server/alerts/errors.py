"""Errors of alerts and alert rules."""

from iotide_server.kit.errors import ErrorKind

ALERT_NOT_FOUND = ErrorKind(404, "alert_not_found", field="alert_id").says("there is no alert {alert_id}")
ALERT_RULE_NOT_FOUND = ErrorKind(404, "alert_rule_not_found", field="rule_id").says("there is no alert rule {rule_id}")
ALERT_RULE_NAME_TAKEN = ErrorKind(409, "alert_rule_name_taken", field="name").says(
    "the cluster already has an alert rule {name}", "choose another name, or change or remove that rule"
)
ALERT_MOVE_REFUSED = ErrorKind(409, "alert_move_refused", field="action", shows="move").says(
    "alert {alert_id} is {state}: {move} is not possible in this state", "possible actions: {possible:names}"
)
ALERT_DETAIL_MISSING = ErrorKind(422, "alert_detail_missing", field="{field}").says(
    "{field}: required for {action}", "give {field}"
)
ALERT_DETAIL_UNEXPECTED = ErrorKind(422, "alert_detail_unexpected", field="{field}").says(
    "{field}: not used by {action}", "omit {field}; it belongs to {belongs_to}"
)
OWNER_UNKNOWN = ErrorKind(422, "owner_unknown", field="owner", shows="name").says(
    "owner: no user {name} can see this cluster",
    "name a user with a role in the cluster, or omit owner to assign the alert to yourself",
)
INCIDENT_NOT_FOUND = ErrorKind(404, "incident_not_found", field="incident_id").says(
    "there is no incident {incident_id}"
)
INCIDENT_MOVE_REFUSED = ErrorKind(409, "incident_move_refused", field="action", shows="move").says(
    "incident {incident_id} is {state}: {move} is not possible in this state", "possible actions: {possible:names}"
)
