import { t } from "@lingui/core/macro";

/** `key` follows g on the keyboard; `holds` matches addresses of pages below this one. */
export const PLACES = [
  {
    to: "/",
    key: "o",
    label: t`Overview`,
    icon: "overview",
    holds: /^\/(targets|nodes|queues)\/|^\/clusters\/\d+$/,
  },
  { to: "/campaigns", key: "c", label: t`Campaigns`, icon: "list", holds: null },
  { to: "/runs", key: null, label: t`Runs`, icon: "runs", holds: /^\/runs\// },
  { to: "/schedules", key: "s", label: t`Schedules`, icon: "calendar", holds: null },
  { to: "/trends", key: "t", label: t`Trends`, icon: "trend", holds: /^\/clusters\/\d+\/trend$/ },
  { to: "/incidents", key: "i", label: t`Incidents`, icon: "alert", holds: /^\/(incidents|alerts)\// },
  { to: "/compare", key: "v", label: t`Compare`, icon: "compare", holds: null },
  { to: "/surfaces", key: null, label: t`Surfaces`, icon: "surface", holds: null },
  { to: "/peers", key: "p", label: t`Peers`, icon: "sweep", holds: null },
  { to: "/published", key: "u", label: t`Published`, icon: "book", holds: null },
  { to: "/settings", key: "e", label: t`Settings`, icon: "settings", holds: /^\/settings\// },
] as const;
