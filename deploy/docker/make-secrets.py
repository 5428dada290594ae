"""Makes the passwords and keys of docker-compose.yml once, as files in a volume; later starts find and keep them.

Usage: make-secrets.py DIRECTORY
"""

import hashlib
import secrets
import sys
from pathlib import Path

REDIS_CONF = """\
appendonly yes
appendfsync everysec
maxmemory-policy noeviction
dir /data
protected-mode yes
user default off
user server on #{server} allkeys allchannels allcommands
user health on nopass nocommands +ping
"""


def main(directory: Path) -> None:
    """Write what is not there yet; the last file written marks the set of passwords as complete."""
    vault_key = directory / "iotide_vault_key"
    if not vault_key.exists():  # also in a volume of a release that had none
        _write(vault_key, secrets.token_urlsafe(32))
    complete = directory / "complete"
    if complete.exists():
        return
    postgres, redis = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    files = {
        "postgres_password": postgres,
        "iotide_database_url": f"postgresql://iotide:{postgres}@postgres:5432/iotide",
        "iotide_redis_url": f"redis://server:{redis}@redis:6379/0",
        "iotide_redis_admin_url": f"redis://server:{redis}@redis:6379/0",
        "redis.conf": REDIS_CONF.format(server=hashlib.sha256(redis.encode()).hexdigest()),
        "complete": "",
    }
    for name, content in files.items():
        _write(directory / name, content)


def _write(path: Path, content: str) -> None:
    draft = path.with_suffix(".new")
    draft.write_text(content)
    # The volume is mounted into the server's own containers alone; PostgreSQL, Redis and the server run there as
    # different users, so the file mode cannot tell them apart.
    draft.chmod(0o444)
    draft.replace(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
