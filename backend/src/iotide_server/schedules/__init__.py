"""Plans that become campaigns by a calendar."""
