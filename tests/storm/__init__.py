"""A storm of faults over several agents, and a checker that believes only what the loads themselves wrote."""
