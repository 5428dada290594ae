/** What the login page says when the way over the OpenID provider led back to it. */

import { t } from "@lingui/core/macro";

interface Refusal {
  readonly title: string;
  readonly remedy: string;
}

/** By the code that the server puts into the address. */
const REFUSALS: ReadonlyMap<string, Refusal> = new Map(
  Object.entries({
    provider_away: {
      title: t`The login service does not answer`,
      remedy: t`Try again shortly. With a password of this installation you can log in without it.`,
    },
    provider_refused: {
      title: t`The login service did not let you in`,
      remedy: t`Try again, or ask whoever runs it.`,
    },
    provider_distrusted: {
      title: t`The login service's answer cannot be trusted`,
      remedy: t`Try again; an administrator finds the reason in the server's log.`,
    },
    sign_in_stale: {
      title: t`This login is over`,
      remedy: t`It was begun more than ten minutes ago, or in another browser. Begin it again.`,
    },
    no_role: {
      title: t`You are known, but may not see anything here`,
      remedy: t`Your groups give you no role. Ask an administrator for access.`,
    },
    account_disabled: { title: t`Your account here is disabled`, remedy: t`Ask an administrator.` },
    too_many_attempts: {
      title: t`Too many attempts failed`,
      remedy: t`Wait a quarter of an hour, then try again.`,
    },
  }),
);

/** The address may hold anything, so its code is not shown. */
export function providerRefusal(code: string): Refusal {
  return REFUSALS.get(code) ?? { title: t`The login failed`, remedy: t`Try again.` };
}
