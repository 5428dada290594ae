"""Signing in through an OpenID provider."""
