"""Templates: plans kept under a name, from which a campaign can begin."""
