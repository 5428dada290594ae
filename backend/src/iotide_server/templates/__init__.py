"""Plans that are kept under a name, to begin the next campaign with."""
