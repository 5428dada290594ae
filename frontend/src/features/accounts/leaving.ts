/** What disabling a person brings about, in words; pure. */

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
  return t`${user.name} can no longer log in: ${sessions} at once, ${tokens} for good, and ${schedules} until somebody takes over. Running campaigns go on. Enabling ${user.name} again brings back none of that.`;
}
