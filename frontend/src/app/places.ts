import { t } from "@lingui/core/macro";

/** `key` follows g on the keyboard; `holds` matches addresses of pages below this one. */
export const PLACE_GROUPS = [
  {
    label: t`Status`,
    places: [
      {
        to: "/",
        key: "o",
        label: t`Overview`,
        icon: "overview",
        holds: /^\/(targets|nodes|queues)\/|^\/clusters\/\d+$/,
      },
    ],
  },
  {
    label: t`Measurements`,
    places: [
      { to: "/campaigns", key: "c", label: t`Campaigns`, icon: "list", holds: null },
      { to: "/schedules", key: "s", label: t`Schedules`, icon: "calendar", holds: null },
      { to: "/runs", key: "r", label: t`Runs`, icon: "runs", holds: /^\/runs\// },
    ],
  },
  {
    label: t`Analysis`,
    places: [
      { to: "/trends", key: "t", label: t`Trends`, icon: "trend", holds: /^\/clusters\/\d+\/trend$/ },
      { to: "/incidents", key: "i", label: t`Incidents`, icon: "alert", holds: /^\/(incidents|alerts)\// },
      {
        to: "/compare",
        key: "v",
        label: t`Compare`,
        icon: "compare",
        holds: /^\/(peers|surfaces|published)$/,
      },
    ],
  },
  {
    label: t`Administration`,
    places: [{ to: "/settings", key: "e", label: t`Settings`, icon: "settings", holds: /^\/settings\// }],
  },
] as const;

export type Place = (typeof PLACE_GROUPS)[number]["places"][number];
export const PLACES: readonly Place[] = PLACE_GROUPS.flatMap<Place>(({ places }) => places);

export const COMPARE_TABS = [
  { to: "/compare", label: t`Comparison` },
  { to: "/peers", label: t`Peers` },
  { to: "/surfaces", label: t`Surfaces` },
  { to: "/published", label: t`Published results` },
] as const;
