import { t } from "@lingui/core/macro";
import { Combobox, Group, Modal, Text, TextInput, useCombobox } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { type Command, matchCommands, rankCommands, runByNumber } from "./commands";
import { type Dialogs, useActions } from "./useActions";
import { useDocs } from "./useDocs";
import { useFoundCommands } from "./useFoundCommands";
import { usePages } from "./usePages";

const MOST_SHOWN = 30;

interface CommandPaletteProps {
  readonly onClose: () => void;
  readonly dialogs: Dialogs;
}

export default function CommandPalette({ onClose, dialogs }: CommandPaletteProps) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const own = [...usePages(), ...useActions(dialogs)];
  const found = useFoundCommands(typed);
  const docs = useDocs(typed);
  const openRun = (runId: number) => void navigate({ to: "/runs/$runId", params: { runId } });
  const shown = [...rankCommands(matchCommands(own, typed), found, typed), ...docs];
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
          placeholder={t`Type a node, target, campaign, series, run number, page, action or word`}
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
