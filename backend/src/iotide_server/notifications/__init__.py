"""Notifications: channels, deliveries and digests."""
