/** Which browser on which system, out of what it calls itself. */

import { t } from "@lingui/core/macro";

/** In this order: each names those after it as what it is like. */
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

/** `Firefox 145 on Linux`; what is no known browser is shown as it calls itself. */
export function browserName(userAgent: string | null): string {
  if (!userAgent) return t`unknown browser`;
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  for (const [pattern, name] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version) return system ? t`${name} ${version} on ${system}` : `${name} ${version}`;
  }
  return userAgent.length > 60 ? `${userAgent.slice(0, 60)} …` : userAgent;
}
