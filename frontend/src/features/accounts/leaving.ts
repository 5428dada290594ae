/** Consequences of disabling a user. */

import { plural, t } from "@lingui/core/macro";
import type { User } from "@/api/types";

export function whatFollows(
  user: Pick<User, "name" | "session_count" | "token_count" | "schedule_count">,
): string {
  const sessions = plural(user.session_count, { one: "# session ends", other: "# sessions end" });
  const tokens = plural(user.token_count, {
    one: "# API token is revoked",
    other: "# API tokens are revoked",
  });
  const schedules = plural(user.schedule_count, { one: "# schedule pauses", other: "# schedules pause" });
  return t`${user.name} can no longer sign in. ${sessions} immediately, ${tokens} permanently, and ${schedules} until another user takes over. Running campaigns continue. Enabling ${user.name} again restores none of this.`;
}
