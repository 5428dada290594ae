"""Find out who calls and what that person may do, from the proof in a request to the rule of a route."""
