"""Why somebody did not get in by the OpenID provider; the login page has a sentence for each code."""

from iotide_server.kit.errors import ErrorKind

NO_PROVIDER = ErrorKind(404, "no_provider").says(
    "no OpenID provider is set up", "sign in by name and password, or set IOTIDE_OIDC_ISSUER"
)
PROVIDER_AWAY = ErrorKind(502, "provider_away").says("the OpenID provider does not answer: {why}", "try again shortly")
PROVIDER_REFUSED = ErrorKind(401, "provider_refused").says(
    "the OpenID provider refused: {why}", "try again, or ask who runs the provider"
)
PROVIDER_DISTRUSTED = ErrorKind(401, "provider_distrusted").says(
    "the OpenID provider's answer is not to be trusted: {why}",
    "try again; an administrator finds the reason in the API's log",
)
SIGN_IN_STALE = ErrorKind(401, "sign_in_stale").says(
    "this sign-in was begun too long ago, in another browser, or is over", "begin it again"
)
NO_ROLE = ErrorKind(403, "no_role").says("your groups give you no role here", "ask an administrator for access")
ACCOUNT_DISABLED = ErrorKind(403, "account_disabled").says("your account here is disabled", "ask an administrator")
