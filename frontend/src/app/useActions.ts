/** Commands that do something, on any page. */

import { t } from "@lingui/core/macro";
import { useMantineColorScheme } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import type { Cluster } from "@/api/types";
import { hasRole, useIsLoggedIn, usePrincipal } from "@/components/session";
import { logOut } from "@/features/accounts/queries";
import { clustersQuery } from "@/features/clusters/queries";
import { RATE_UNITS, type RateUnits, setPreferences } from "@/lib/preferences";
import type { Command } from "./commands";

const RATE_NAMES: Readonly<Record<RateUnits, string>> = { decimal: "MB/s", binary: "MiB/s", bits: "Mbit/s" };

/** Opens the dialogs of the frame. */
export interface Dialogs {
  readonly display: () => void;
  readonly help: () => void;
  readonly addEvent: (cluster: Cluster) => void;
}

export function useActions(dialogs: Dialogs): Command[] {
  const display: Command = {
    id: "display",
    label: t`Units, time zone, colours`,
    group: "Action",
    run: dialogs.display,
  };
  const keys: Command = { id: "keys", label: t`Show keyboard shortcuts`, group: "Action", run: dialogs.help };
  return [...useUserActions(), ...useEventActions(dialogs.addEvent), display, keys, ...useDisplayActions()];
}

function useUserActions(): Command[] {
  const navigate = useNavigate();
  const { href } = useLocation();
  const { mutate: leave } = useMutation(logOut);
  const create = () => void navigate({ to: "/campaigns/new" });
  const signIn = () => void navigate({ to: "/login", search: { next: href } });
  if (!useIsLoggedIn()) return [{ id: "sign in", label: t`Sign in`, group: "Action", run: signIn }];
  return [
    { id: "new", label: t`New campaign`, group: "Action", run: create },
    { id: "sign out", label: t`Sign out`, group: "Action", run: () => leave() },
  ];
}

/** An event belongs to a cluster, so each cluster has its own command. */
function useEventActions(onAdd: (cluster: Cluster) => void): Command[] {
  const principal = usePrincipal();
  const { data: clusters = [] } = useQuery(clustersQuery);
  const changeable = clusters.filter(
    ({ id, origin }) => origin !== "published" && hasRole(principal, "operator", id),
  );
  return changeable.map((cluster) => ({
    id: t`event ${cluster.id}`,
    label: t`Add event`,
    group: "Action",
    place: cluster.name,
    run: () => onAdd(cluster),
  }));
}

function useDisplayActions(): Command[] {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = (name: "light" | "dark" | "auto"): Command => ({
    id: name,
    label: name === "auto" ? t`Use the system's colour scheme` : t`Use the ${name} colour scheme`,
    group: "Action",
    run: () => setColorScheme(name),
  });
  const zone = (name: string | null, label: string): Command => ({
    id: label,
    label,
    group: "Action",
    run: () => setPreferences({ zone: name }),
  });
  const rates = RATE_UNITS.map(
    (name): Command => ({
      id: t`rates ${name}`,
      label: t`Show rates in ${RATE_NAMES[name]}`,
      group: "Action",
      run: () => setPreferences({ rates: name }),
    }),
  );
  return [
    ...rates,
    zone("UTC", t`Show times in UTC`),
    zone(null, t`Show times in this computer's time zone`),
    scheme("light"),
    scheme("dark"),
    scheme("auto"),
  ];
}
