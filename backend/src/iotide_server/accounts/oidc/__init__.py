"""Sign-in through an OpenID provider."""
