"""Errors of sign-in through the OpenID provider. The sign-in page words each code."""

from iotide_server.kit.errors import ErrorKind

NO_PROVIDER = ErrorKind(404, "no_provider").says(
    "no OpenID provider is configured", "sign in with name and password, or set IOTIDE_OIDC_ISSUER"
)
PROVIDER_AWAY = ErrorKind(502, "provider_away").says("the OpenID provider does not answer: {why}", "try again shortly")
PROVIDER_REFUSED = ErrorKind(401, "provider_refused").says(
    "the OpenID provider rejected the sign-in: {why}", "try again, or ask the provider's administrator"
)
PROVIDER_DISTRUSTED = ErrorKind(401, "provider_distrusted").says(
    "the OpenID provider's response is not trustworthy: {why}",
    "try again; the reason is in the API's log",
)
SIGN_IN_STALE = ErrorKind(401, "sign_in_stale").says(
    "this sign-in expired, was started in another browser, or is already complete", "start the sign-in again"
)
NO_ROLE = ErrorKind(403, "no_role").says("your groups give you no role here", "ask an administrator for access")
ACCOUNT_DISABLED = ErrorKind(403, "account_disabled").says("your account here is disabled", "ask an administrator")
