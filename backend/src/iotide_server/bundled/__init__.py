"""Private PostgreSQL and Redis, TLS, and process supervision."""


class StartError(Exception):
    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(f"{message}\n{remedy}")
        self.remedy = remedy
