"""The agent's protocol with the server: session, transport, spool and the loop that drives them."""
