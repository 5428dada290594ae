"""What can go wrong with alerts and their rules."""

from iotide_server.kit.errors import ErrorKind

ALERT_NOT_FOUND = ErrorKind(404, "alert_not_found", field="alert_id").says("there is no alert {alert_id}")
ALERT_RULE_NOT_FOUND = ErrorKind(404, "alert_rule_not_found", field="rule_id").says("there is no alert rule {rule_id}")
ALERT_RULE_NAME_TAKEN = ErrorKind(409, "alert_rule_name_taken", field="name").says(
    "the cluster has an alert rule {name} already", "choose another name, or change or remove that rule"
)
ALERT_MOVE_REFUSED = ErrorKind(409, "alert_move_refused", field="action", shows="move").says(
    "alert {alert_id} is {state}: {move} leads nowhere from there", "it takes {possible:names}"
)
ALERT_DETAIL_MISSING = ErrorKind(422, "alert_detail_missing", field="{field}").says(
    "{field}: {action} needs it", "give {field}"
)
ALERT_DETAIL_UNEXPECTED = ErrorKind(422, "alert_detail_unexpected", field="{field}").says(
    "{field}: {action} takes none", "leave {field} out; it goes with {belongs_to}"
)
OWNER_UNKNOWN = ErrorKind(422, "owner_unknown", field="owner", shows="name").says(
    "owner: {name} is nobody who may see this cluster",
    "name somebody with a role in the cluster, or leave it out to take the alert yourself",
)
