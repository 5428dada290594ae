/** What the login page says when the way over the OpenID provider led back to it. */

import { t } from "@lingui/core/macro";

interface Refusal {
  readonly title: string;
  readonly remedy: string;
}

/** By the code that the server put into the address; the address may hold anything, so it is not shown. */
export function providerRefusal(code: string): Refusal {
  switch (code) {
    case "provider_away":
      return {
        title: t`The login service does not answer`,
        remedy: t`Try again shortly. With a password of this installation you can log in without it.`,
      };
    case "provider_refused":
      return {
        title: t`The login service did not let you in`,
        remedy: t`Try again, or ask whoever runs it.`,
      };
    case "provider_distrusted":
      return {
        title: t`The login service's answer cannot be trusted`,
        remedy: t`Try again; an administrator finds the reason in the server's log.`,
      };
    case "sign_in_stale":
      return {
        title: t`This login is over`,
        remedy: t`It was begun more than ten minutes ago, or in another browser. Begin it again.`,
      };
    case "no_role":
      return {
        title: t`You are known, but may not see anything here`,
        remedy: t`Your groups give you no role. Ask an administrator for access.`,
      };
    case "account_disabled":
      return { title: t`Your account here is disabled`, remedy: t`Ask an administrator.` };
    case "too_many_attempts":
      return {
        title: t`Too many attempts failed`,
        remedy: t`Wait a quarter of an hour, then try again.`,
      };
    default:
      return { title: t`The login failed`, remedy: t`Try again.` };
  }
}
