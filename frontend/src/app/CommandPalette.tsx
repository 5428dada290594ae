import { t } from "@lingui/core/macro";
import { Combobox, Group, Modal, Text, TextInput, useCombobox, useMantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useIsLoggedIn } from "@/components/session";
import { RATE_UNITS, type RateUnits, setPreferences } from "@/lib/preferences";
import { type Command, matchCommands, rankCommands, runByNumber } from "./commands";
import { COMPARE_TABS, PLACES } from "./places";
import { useFoundCommands } from "./useFoundCommands";

const MOST_SHOWN = 30;
const RATE_NAMES: Readonly<Record<RateUnits, string>> = { decimal: "MB/s", binary: "MiB/s", bits: "Mbit/s" };
const PAGES = [
  ...PLACES.filter(({ to }) => to !== "/compare"),
  ...COMPARE_TABS,
  { to: "/settings/tokens", label: t`API tokens` },
] as const;

interface CommandPaletteProps {
  readonly onClose: () => void;
  readonly onDisplay: () => void;
  readonly onHelp: () => void;
}

export default function CommandPalette({ onClose, onDisplay, onHelp }: CommandPaletteProps) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const own = [...usePages(), ...useActions(onDisplay, onHelp)];
  const found = useFoundCommands(typed);
  const openRun = (runId: number) => void navigate({ to: "/runs/$runId", params: { runId } });
  const shown = rankCommands(matchCommands(own, typed), found, typed);
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
      <PaletteList
        commands={[...runByNumber(typed, openRun), ...shown].slice(0, MOST_SHOWN)}
        onClose={onClose}
        onType={setTyped}
        typed={typed}
      />
    </Modal>
  );
}

interface PaletteListProps {
  /** The commands that match the typed text, best first. */
  readonly commands: readonly Command[];
  readonly typed: string;
  readonly onType: (text: string) => void;
  readonly onClose: () => void;
}

function PaletteList({ commands, typed, onType, onClose }: PaletteListProps) {
  const combobox = useCombobox({ opened: true });
  const first = commands[0]?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text or another best match is selected
  useEffect(() => void combobox.selectFirstOption(), [typed, first]);
  function submit(id: string): void {
    onClose();
    commands.find((command) => command.id === id)?.run();
  }
  return (
    <Combobox onOptionSubmit={submit} store={combobox}>
      <Combobox.EventsTarget>
        <TextInput
          aria-label={t`Command`}
          data-autofocus
          maxLength={100}
          onChange={(event) => onType(event.currentTarget.value)}
          placeholder={t`Type a node, target, campaign, series, run number, page or action`}
          value={typed}
        />
      </Combobox.EventsTarget>
      <Combobox.Options
        aria-label={t`Commands`}
        mah="60vh"
        mt="xs"
        style={{ overflowY: "auto" }}
        // A region that scrolls must be reachable by keyboard.
        tabIndex={0}
      >
        {commands.length === 0 && <Combobox.Empty>{t`No matches.`}</Combobox.Empty>}
        {commands.map(({ id, label, group, place }) => (
          <Combobox.Option key={id} value={id}>
            <Group justify="space-between" wrap="nowrap">
              <span className="iotide-wrap">{label}</span>{" "}
              <Text c="inherit" component="span" size="xs" ta="end">
                {place === undefined ? group : `${group} · ${place}`}
              </Text>
            </Group>
          </Combobox.Option>
        ))}
      </Combobox.Options>
    </Combobox>
  );
}

function usePages(): Command[] {
  const navigate = useNavigate();
  const isLoggedIn = useIsLoggedIn();
  const pages = PAGES.filter(({ to }) => isLoggedIn || !to.startsWith("/settings")).map(
    ({ to, label }): Command => ({ id: to, label, group: "Page", run: () => void navigate({ to }) }),
  );
  if (!isLoggedIn) return pages;
  const create = () => void navigate({ to: "/campaigns/new" });
  return [...pages, { id: "new", label: t`New campaign`, group: "Action", run: create }];
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
