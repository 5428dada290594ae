"""Files of the agent that nodes fetch from the server: the bundle, the script that installs it, the authority."""
