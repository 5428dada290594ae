"""Private PostgreSQL and Redis, TLS and the supervision of the server's processes."""


class StartError(Exception):
    """The services cannot start as asked; `remedy` says what to do about it."""

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(f"{message}\n{remedy}")
        self.remedy = remedy
