/** Browser and system from a user agent. */

import { t } from "@lingui/core/macro";

/** Order matters: each user agent also contains the names after it. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\/(\d+)/, "Edge"],
  [/\bOPR\/(\d+)/, "Opera"],
  [/\bFirefox\/(\d+)/, "Firefox"],
  [/Chrom(?:e|ium)\/(\d+)/, "Chrome"],
  [/\bVersion\/(\d+)[\d.]* (?:Mobile\S* )?Safari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux|X11/, "Linux"],
];

/** For example `Firefox 145 on Linux`; an unknown user agent is returned unchanged. */
export function browserName(userAgent: string | null): string {
  if (!userAgent) return t`unknown browser`;
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  for (const [pattern, name] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version) return system ? t`${name} ${version} on ${system}` : `${name} ${version}`;
  }
  return userAgent.length > 60 ? `${userAgent.slice(0, 60)} …` : userAgent;
}
