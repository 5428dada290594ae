"""Why somebody did not get in by the OpenID provider; the login page has a sentence for each code."""

from iotide_server.kit.errors import IotideError, NotAllowedError, NotAuthenticatedError, NotFoundError


class NoProviderError(NotFoundError):
    """The installation has no OpenID provider."""

    code = "no_provider"

    def __init__(self) -> None:
        super().__init__(
            "no OpenID provider is set up", remedy="sign in by name and password, or set IOTIDE_OIDC_ISSUER"
        )


class ProviderAwayError(IotideError):
    """The provider does not answer, or not as one."""

    status = 502
    code = "provider_away"

    def __init__(self, why: str) -> None:
        super().__init__(f"the OpenID provider does not answer: {why}", remedy="try again shortly")


class ProviderRefusedError(NotAuthenticatedError):
    """The provider let nobody in, or the person changed their mind there."""

    code = "provider_refused"

    def __init__(self, why: str) -> None:
        super().__init__(f"the OpenID provider refused: {why}", remedy="try again, or ask who runs the provider")


class AnswerDistrustedError(NotAuthenticatedError):
    """What the provider said of the person cannot be trusted: forged, of old, or meant for somebody else."""

    code = "provider_distrusted"

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the OpenID provider's answer is not to be trusted: {why}",
            remedy="try again; an administrator finds the reason in the API's log",
        )


class SignInStaleError(NotAuthenticatedError):
    """The answer belongs to no sign-in that this browser has under way."""

    code = "sign_in_stale"

    def __init__(self) -> None:
        super().__init__("this sign-in was begun too long ago, in another browser, or is over", remedy="begin it again")


class NoRoleGivenError(NotAllowedError):
    """Neither the person's groups nor an administrator give a role."""

    code = "no_role"

    def __init__(self) -> None:
        super().__init__("your groups give you no role here", remedy="ask an administrator for access")


class AccountDisabledError(NotAllowedError):
    """An administrator has shut the person out."""

    code = "account_disabled"

    def __init__(self) -> None:
        super().__init__("your account here is disabled", remedy="ask an administrator")
