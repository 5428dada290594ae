"""Errors of channels."""

from iotide_server.kit.errors import ErrorKind

CHANNEL_NOT_FOUND = ErrorKind(404, "channel_not_found", field="channel_id").says("there is no channel {channel_id}")
CHANNEL_NAME_TAKEN = ErrorKind(409, "channel_name_taken", field="name").says(
    "a channel {name} already exists", "choose another name"
)
CHANNEL_IN_USE = ErrorKind(409, "channel_in_use", field="channel_id").says(
    "alert rules use channel {name}: {rules}", "remove it from these rules first, or select another channel there"
)
CHANNEL_SECRET_MISSING = ErrorKind(422, "channel_secret_missing", field="{field}").says(
    "{field}: {why}", "give {field}"
)
VAULT_KEY_MISSING = ErrorKind(409, "vault_key_missing").says(
    "this server has no key to encrypt secrets",
    "ask its administrator to set the same IOTIDE_VAULT_KEY for all processes and restart them; see"
    " docs/notifications.md",
)
ADDRESS_REFUSED = ErrorKind(422, "address_refused", field="{field}", shows="host").says(
    "{field}: {host} is {why}",
    "use a service on another machine; for a mail relay on the server itself, ask its administrator to set"
    " IOTIDE_NOTIFY_LOOPBACK=true",
)
