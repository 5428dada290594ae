/** Ctrl+K: go anywhere or do something by typing a few letters. */

import { Combobox, Group, Modal, Text, TextInput, useCombobox, useMantineColorScheme } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import { campaignsQuery } from "@/features/campaigns/queries";
import { clustersQuery } from "@/features/clusters/queries";
import { type Command, matchCommands } from "./commands";

const MOST_SHOWN = 12;
const PAGES = [
  ["Overview", "/"],
  ["Campaigns", "/campaigns"],
  ["Schedules", "/schedules"],
  ["Trends", "/trends"],
  ["Changes", "/changes"],
  ["Alerts", "/alerts"],
  ["Compare", "/compare"],
  ["Peers", "/peers"],
  ["Settings", "/settings"],
] as const;

export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const commands = useCommands();
  return (
    <Modal
      attributes={{ header: { role: "presentation" } }}
      onClose={onClose}
      opened
      padding="xs"
      title="Go to or do"
      withCloseButton={false}
      yOffset="12vh"
    >
      <PaletteList commands={commands} onClose={onClose} />
    </Modal>
  );
}

export function PaletteList({ commands, onClose }: { commands: readonly Command[]; onClose: () => void }) {
  const combobox = useCombobox({ opened: true });
  const [typed, setTyped] = useState("");
  const shown = matchCommands(commands, typed).slice(0, MOST_SHOWN);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text selects the first match again
  useEffect(() => void combobox.selectFirstOption(), [typed]);
  function submit(id: string): void {
    onClose();
    commands.find((command) => command.id === id)?.run();
  }
  return (
    <Combobox onOptionSubmit={submit} store={combobox}>
      <Combobox.EventsTarget>
        <TextInput
          aria-label="Command"
          data-autofocus
          onChange={(event) => setTyped(event.currentTarget.value)}
          placeholder="Type a page, a campaign or an action"
          value={typed}
        />
      </Combobox.EventsTarget>
      <Combobox.Options aria-label="Commands" mt="xs">
        {shown.length === 0 && <Combobox.Empty>Nothing matches.</Combobox.Empty>}
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

/** Pages and actions, then what the server knows of campaigns and clusters. */
function useCommands(): Command[] {
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const { data: campaigns = [] } = useInfiniteQuery(campaignsQuery({}));
  const { data: clusters = [] } = useQuery(clustersQuery);
  return useMemo(() => {
    const scheme = (name: "light" | "dark" | "auto"): Command => ({
      id: name,
      label: name === "auto" ? "Use the system's colour scheme" : `Use the ${name} colour scheme`,
      group: "Do",
      run: () => setColorScheme(name),
    });
    return [
      ...PAGES.map(
        ([label, to]): Command => ({ id: to, label, group: "Page", run: () => void navigate({ to }) }),
      ),
      { id: "new", label: "New campaign", group: "Do", run: () => void navigate({ to: "/campaigns/new" }) },
      ...clusters.map(
        ({ id, name }): Command => ({
          id: `trend ${id}`,
          label: `Trend of ${name}`,
          group: "Trend",
          run: () => void navigate({ to: "/clusters/$clusterId/trend", params: { clusterId: id } }),
        }),
      ),
      ...campaigns.map(
        ({ id, name }): Command => ({
          id: `campaign ${id}`,
          label: `${name} (${id})`,
          group: "Campaign",
          run: () => void navigate({ to: "/campaigns/$campaignId", params: { campaignId: id } }),
        }),
      ),
      scheme("light"),
      scheme("dark"),
      scheme("auto"),
    ];
  }, [navigate, setColorScheme, campaigns, clusters]);
}
