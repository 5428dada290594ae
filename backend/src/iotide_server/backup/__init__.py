"""What keeps an installation's data: backups, and databases made from them again."""
