"""Prints docs/access.md: access to each route, by the rules that the routes declare."""

import sys

from access.table import document
from factories.routes import declared_routes
from pydantic import SecretStr

from iotide_server.main import create_app
from iotide_server.settings import Settings

NOWHERE = Settings(database_url=SecretStr("postgresql://nowhere/none"), redis_url=SecretStr("redis://nowhere"))

if __name__ == "__main__":
    sys.stdout.write(document(declared_routes(create_app(NOWHERE))))
