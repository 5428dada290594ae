"""Published results of others, as read-only clusters with their sources; tables in `campaigns/models.py`."""
