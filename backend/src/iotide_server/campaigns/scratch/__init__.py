"""Block `scratch` of a plan: its combinations as stages, and the time that makes take. Pure."""
