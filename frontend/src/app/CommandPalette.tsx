import { t } from "@lingui/core/macro";
import { Combobox, Group, Modal, Text, TextInput, useCombobox, useMantineColorScheme } from "@mantine/core";
import { type UseQueryResult, useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import type { Target } from "@/api/types";
import { useIsLoggedIn } from "@/components/session";
import { campaignsQuery } from "@/features/campaigns/queries";
import { clustersQuery } from "@/features/clusters/queries";
import { targetsQuery } from "@/features/targets/queries";
import { RATE_UNITS, type RateUnits, setPreferences } from "@/lib/preferences";
import { type Command, matchCommands, runByNumber } from "./commands";
import { PLACES } from "./places";

const MOST_SHOWN = 12;
const NONE = [] as const;
const RATE_NAMES: Readonly<Record<RateUnits, string>> = { decimal: "MB/s", binary: "MiB/s", bits: "Mbit/s" };
const PAGES = [
  ...PLACES.map(({ to, label }) => ({ to, label: to === "/published" ? t`Published results` : label })),
  { to: "/settings/tokens", label: t`API tokens` },
] as const;

interface CommandPaletteProps {
  readonly onClose: () => void;
  readonly onDisplay: () => void;
  readonly onHelp: () => void;
}

export default function CommandPalette({ onClose, onDisplay, onHelp }: CommandPaletteProps) {
  const navigate = useNavigate();
  const commands = [...useCommands(), ...useActions(onDisplay, onHelp)];
  const openRun = (runId: number) => void navigate({ to: "/runs/$runId", params: { runId } });
  return (
    <Modal
      attributes={{ header: { role: "presentation" } }}
      onClose={onClose}
      opened
      padding="xs"
      title={t`Command palette`}
      withCloseButton={false}
      yOffset="12vh"
    >
      <PaletteList commands={commands} onClose={onClose} onRun={openRun} />
    </Modal>
  );
}

interface PaletteListProps {
  readonly commands: readonly Command[];
  readonly onClose: () => void;
  readonly onRun: (runId: number) => void;
}

export function PaletteList({ commands, onClose, onRun }: PaletteListProps) {
  const combobox = useCombobox({ opened: true });
  const [typed, setTyped] = useState("");
  const shown = [...runByNumber(typed, onRun), ...matchCommands(commands, typed)].slice(0, MOST_SHOWN);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text selects the first match again
  useEffect(() => void combobox.selectFirstOption(), [typed]);
  function submit(id: string): void {
    onClose();
    shown.find((command) => command.id === id)?.run();
  }
  return (
    <Combobox onOptionSubmit={submit} store={combobox}>
      <Combobox.EventsTarget>
        <TextInput
          aria-label={t`Command`}
          data-autofocus
          onChange={(event) => setTyped(event.currentTarget.value)}
          placeholder={t`Type a page, cluster, campaign, target, run number or action`}
          value={typed}
        />
      </Combobox.EventsTarget>
      <Combobox.Options aria-label={t`Commands`} mt="xs">
        {shown.length === 0 && <Combobox.Empty>{t`No matches.`}</Combobox.Empty>}
        {shown.map(({ id, label, group }) => (
          <Combobox.Option key={id} value={id}>
            <Group justify="space-between">
              {label}{" "}
              <Text c="inherit" component="span" size="xs">
                {group}
              </Text>
            </Group>
          </Combobox.Option>
        ))}
      </Combobox.Options>
    </Combobox>
  );
}

function useActions(onDisplay: () => void, onHelp: () => void): Command[] {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = (name: "light" | "dark" | "auto"): Command => ({
    id: name,
    label: name === "auto" ? t`Use the system's colour scheme` : t`Use the ${name} colour scheme`,
    group: "Action",
    run: () => setColorScheme(name),
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
    { id: "utc", label: t`Show times in UTC`, group: "Action", run: () => setPreferences({ zone: "UTC" }) },
    {
      id: t`own zone`,
      label: t`Show times in this computer's time zone`,
      group: "Action",
      run: () => setPreferences({ zone: null }),
    },
    { id: "display", label: t`Units, time zone, colours`, group: "Action", run: onDisplay },
    { id: "keys", label: t`Show keyboard shortcuts`, group: "Action", run: onHelp },
    scheme("light"),
    scheme("dark"),
    scheme("auto"),
  ];
}

function useCommands(): Command[] {
  const navigate = useNavigate();
  const isLoggedIn = useIsLoggedIn();
  const { data: campaigns = [] } = useInfiniteQuery(campaignsQuery({}));
  const { data: clusters = NONE } = useQuery(clustersQuery);
  const targets = useQueries({
    queries: clusters.map(({ id }) => targetsQuery(id)),
    combine: gatherTargets,
  });
  return useMemo(
    () => [
      ...PAGES.filter(({ to }) => isLoggedIn || to !== "/settings").map(
        ({ to, label }): Command => ({ id: to, label, group: "Page", run: () => void navigate({ to }) }),
      ),
      ...(isLoggedIn ? [newCampaign(() => void navigate({ to: "/campaigns/new" }))] : []),
      ...clusters.map(
        ({ id, name }): Command => ({
          id: t`trend ${id}`,
          label: t`Trend of ${name}`,
          group: "Trend",
          run: () => void navigate({ to: "/clusters/$clusterId/trend", params: { clusterId: id } }),
        }),
      ),
      ...targets.map(
        ({ id, name }): Command => ({
          id: t`target ${id}`,
          label: name,
          group: "Target",
          run: () => void navigate({ to: "/targets/$targetId", params: { targetId: id } }),
        }),
      ),
      ...campaigns.map(
        ({ id, name }): Command => ({
          id: t`campaign ${id}`,
          label: `${name} (${id})`,
          group: "Campaign",
          run: () => void navigate({ to: "/campaigns/$campaignId", params: { campaignId: id } }),
        }),
      ),
    ],
    [navigate, campaigns, clusters, targets, isLoggedIn],
  );
}

function newCampaign(run: () => void): Command {
  return { id: "new", label: t`New campaign`, group: "Action", run };
}

function gatherTargets(results: readonly UseQueryResult<Target[]>[]): readonly Target[] {
  return results.flatMap(({ data = [] }) => data);
}
