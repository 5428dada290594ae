"""Published results of others, as read-only clusters; tables in `campaigns/models.py`."""
