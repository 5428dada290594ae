"""What can go wrong with channels."""

from iotide_server.kit.errors import ErrorKind

CHANNEL_NOT_FOUND = ErrorKind(404, "channel_not_found", field="channel_id").says("there is no channel {channel_id}")
CHANNEL_NAME_TAKEN = ErrorKind(409, "channel_name_taken", field="name").says(
    "there is a channel {name} already", "choose another name"
)
CHANNEL_IN_USE = ErrorKind(409, "channel_in_use", field="channel_id").says(
    "alert rules send to the channel {name}: {rules}", "take it out of these rules first, or give them another one"
)
CHANNEL_SECRET_MISSING = ErrorKind(422, "channel_secret_missing", field="{field}").says("{field}: {why}", "give it")
VAULT_KEY_MISSING = ErrorKind(409, "vault_key_missing").says(
    "this server has no key to keep secrets with",
    "have its administrator set IOTIDE_VAULT_KEY, for all processes the same, and restart it; see"
    " docs/notifications.md",
)
ADDRESS_REFUSED = ErrorKind(422, "address_refused", field="{field}", shows="host").says(
    "{field}: {host} is {why}",
    "name a service on another machine; for a mail relay on the server itself, its administrator sets"
    " IOTIDE_NOTIFY_LOOPBACK=true",
)
