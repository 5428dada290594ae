/** Scratch disks as an axis of the campaign: its node makes each layout and file system before the runs. */

import { t } from "@lingui/core/macro";
import { List, NativeSelect, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { Preview, ScratchSet } from "@/api/types";
import { Command } from "@/components/Command";
import { DocsLink, NodeLink, TextLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { Loaded, Section } from "@/components/Page";
import { formatValue } from "@/lib/units";
import type { Draft } from "./draft";
import { Fold } from "./Fold";
import { ScratchInputs } from "./ScratchInputs";
import { ScratchVariants } from "./ScratchVariants";
import { chooseSet, placeOf, scratchSummary } from "./scratch";

const ADOPT = "sudo iotide-agent scratch adopt wwn-0x5000c500a1b2c3d4";

export type SetsQuery = UseQueryResult<ScratchSet[]>;

interface ScratchSectionProps {
  readonly draft: Draft;
  readonly sets: SetsQuery;
  readonly preview: Preview | undefined;
  readonly onChange: (draft: Draft) => void;
}

export function ScratchSection({ draft, sets, preview, onChange }: ScratchSectionProps) {
  const { scratch } = draft;
  return (
    <Fold
      differences={scratch ? scratchSummary(scratch) : []}
      title={t`Scratch disks`}
      usual={t`file systems that the campaign makes itself`}
    >
      <Section
        actions={<TextLink to="/tools/stripes" underline="always">{t`Stripe calculator`}</TextLink>}
        description={t`Each combination of layout, file system and options is a stage. The node makes it before its runs, and wipes the disks at the end.`}
        title={t`Layouts and file systems`}
      >
        <Stack>
          <Loaded query={sets}>
            {(found) => <SetChoice draft={draft} onChange={onChange} sets={found} />}
          </Loaded>
          {scratch && (
            <ScratchInputs
              disks={sets.data?.find(isOf(scratch))?.disks.length}
              onChange={(changed) => onChange({ ...draft, scratch: changed })}
              scratch={scratch}
            />
          )}
          {preview?.scratch && <ScratchVariants preview={preview.scratch} />}
        </Stack>
      </Section>
    </Fold>
  );
}

/** Return a check for the set that a block names. */
export function isOf({ node, set }: NonNullable<Draft["scratch"]>): (found: ScratchSet) => boolean {
  return ({ node_name, name }) => node_name === node && name === set;
}

interface SetChoiceProps {
  readonly draft: Draft;
  readonly sets: readonly ScratchSet[];
  readonly onChange: (draft: Draft) => void;
}

function SetChoice({ draft, sets, onChange }: SetChoiceProps) {
  const enabled = sets.filter(({ permission }) => permission === "enabled");
  const { scratch } = draft;
  const chosen = scratch ? placeOf(scratch) : "";
  const offered = enabled.map((set) => ({ value: nameOf(set), label: `${nameOf(set)}: ${sizeOf(set)}` }));
  const isGone = scratch !== undefined && !enabled.some(isOf(scratch));
  return (
    <>
      {(enabled.length > 0 || scratch) && (
        <NativeSelect
          data={[
            { value: "", label: t`None` },
            ...(isGone ? [{ value: chosen, label: t`${chosen} (not enabled)` }] : []),
            ...offered,
          ]}
          description={t`Choosing a set also selects its node and its target.`}
          label={t`Set of disks`}
          maw={480}
          onChange={({ currentTarget: { value } }) =>
            onChange(
              chooseSet(
                draft,
                enabled.find((set) => nameOf(set) === value),
              ),
            )
          }
          value={chosen}
        />
      )}
      <NotEnabled sets={sets.filter(({ permission }) => permission !== "enabled")} />
      {sets.length === 0 && <NoSets />}
    </>
  );
}

function nameOf({ node_name, name }: ScratchSet): string {
  return placeOf({ node: node_name, set: name });
}

function sizeOf({ disks }: ScratchSet): string {
  const least = formatValue(Math.min(...disks.map(({ size_bytes }) => size_bytes)), "bytes");
  return disks.length === 1 ? t`1 disk of ${least}` : t`${disks.length} disks of ${least} or more`;
}

function NotEnabled({ sets }: { sets: readonly ScratchSet[] }) {
  if (sets.length === 0) return null;
  return (
    <Text size="sm">
      {t`Not enabled; an admin of the cluster can enable them on the page of their node:`}{" "}
      {sets.map((set, index) => (
        <span key={set.id}>
          {index > 0 && ", "}
          <NodeLink id={set.node_id} name={nameOf(set)} underline="always" />
          {set.permission === "changed" && t` (its disks changed)`}
        </span>
      ))}
    </Text>
  );
}

function NoSets() {
  return (
    <Stack gap="xs">
      <Text size="sm">{t`No node of this cluster has a set of scratch disks. iotide erases only disks that were adopted and enabled:`}</Text>
      <List size="sm" type="ordered">
        <List.Item>{t`On the storage node, list the disks of a set in /etc/iotide/scratch.toml.`}</List.Item>
        <List.Item>{t`Adopt each disk there, as root. All data on it is lost.`}</List.Item>
        <List.Item>{t`As an admin of the cluster, enable the set on the page of the node, under “Scratch sets”.`}</List.Item>
      </List>
      <Command label={t`Copy the adopt command`} text={ADOPT} />
      <Hint>
        <DocsLink>{t`Documentation`}</DocsLink>
      </Hint>
    </Stack>
  );
}
