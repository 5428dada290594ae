"""What can go wrong with channels."""

from collections.abc import Collection
from typing import Final

from iotide_server.kit.errors import ConflictError, InvalidInputError, NotFoundError

_MOST_NAMED: Final = 5


class ChannelNotFoundError(NotFoundError):
    """No such channel, or none that the caller may use there."""

    code = "channel_not_found"

    def __init__(self, channel_id: int, *, field: str = "channel_id") -> None:
        super().__init__(f"there is no channel {channel_id}", field=field, value=channel_id)


class ChannelNameTakenError(ConflictError):
    """Another channel of the same scope has the name."""

    code = "channel_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"there is a channel {name} already", field="name", value=name, remedy="choose another name")


class ChannelInUseError(ConflictError):
    """Alert rules send to the channel."""

    code = "channel_in_use"

    def __init__(self, channel_id: int, name: str, rules: Collection[str]) -> None:
        shown = ", ".join(list(rules)[:_MOST_NAMED]) + (" and others" if len(rules) > _MOST_NAMED else "")
        super().__init__(
            f"alert rules send to the channel {name}: {shown}",
            field="channel_id",
            value=channel_id,
            remedy="take it out of these rules first, or give them another one",
        )


class ChannelSecretMissingError(InvalidInputError):
    """A secret that has to be given, because there is none yet or because it would go to somebody else."""

    code = "channel_secret_missing"

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}", field=field, remedy="give it")


class VaultLockedError(ConflictError):
    """The server has no key to keep secrets with."""

    code = "vault_key_missing"

    def __init__(self) -> None:
        super().__init__(
            "this server has no key to keep secrets with",
            remedy="have its administrator set IOTIDE_VAULT_KEY, for all processes the same, and restart it; see"
            " docs/notifications.md",
        )


class AddressRefusedError(InvalidInputError):
    """An address to which the server sends nothing."""

    code = "address_refused"

    def __init__(self, field: str, host: str, why: str) -> None:
        super().__init__(
            f"{field}: {host} is {why}",
            field=field,
            value=host,
            remedy="name a service on another machine; for a mail relay on the server itself, its administrator sets"
            " IOTIDE_NOTIFY_LOOPBACK=true",
        )
