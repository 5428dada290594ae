/** Layouts, file systems and options that a node makes on a set of scratch disks. */

import { t } from "@lingui/core/macro";
import {
  Checkbox,
  Group,
  NativeSelect,
  NumberInput,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
} from "@mantine/core";
import { useState } from "react";
import {
  CHUNKS,
  commonLayouts,
  DATA_MODES,
  FILESYSTEMS,
  type Filesystem,
  fillPercent,
  layoutText,
  MOST_FILL_PERCENT,
  placeOf,
  type ScratchPlan,
  usedChunk,
  WITH_DATA,
  withData,
  withFilesystems,
  withFillPercent,
  withLayouts,
  withServes,
} from "./scratch";

/** Without a known set, check boxes for as many disks as a RAID 6 needs. */
const USUAL_DISKS = 4;
const MOST_ROUNDS = 10;

interface InputsProps {
  readonly scratch: ScratchPlan;
  readonly onChange: (scratch: ScratchPlan) => void;
}

export function ScratchInputs({ disks, ...props }: InputsProps & { readonly disks: number | undefined }) {
  return (
    <Stack>
      <Layouts disks={disks ?? USUAL_DISKS} {...props} />
      <Filesystems {...props} />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <MkfsAndMount {...props} />
        <RoundsAndSync {...props} />
        <Preparation {...props} />
        <Serving {...props} />
      </SimpleGrid>
    </Stack>
  );
}

function Layouts({ disks, scratch, onChange }: InputsProps & { readonly disks: number }) {
  const [chunk, setChunk] = useState(() => usedChunk(scratch));
  const texts = scratch.layouts.map(layoutText);
  const common = commonLayouts(disks, chunk);
  const others = texts.filter((text) => !common.includes(text));
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <Stack gap="xs">
        <Checkbox.Group
          label={t`Layouts`}
          onChange={(picked) => onChange(withLayouts(scratch, [...picked, ...others]))}
          value={texts.filter((text) => common.includes(text))}
        >
          <Boxes names={common} />
        </Checkbox.Group>
        <NativeSelect
          data={CHUNKS.map((value) => ({ value, label: value.replace(/[KM]/, " $&iB") }))}
          description={t`Of the check boxes. Layouts chosen with another chunk stay.`}
          label={t`Chunk`}
          maw={240}
          onChange={({ currentTarget }) => setChunk(currentTarget.value)}
          value={chunk}
        />
      </Stack>
      <TagsInput
        description={t`As “iotide stripe” reads them, such as lvm-stripe:2x256K/raid5:3x64K. Press Enter after each.`}
        label={t`Other layouts`}
        onChange={(entered) =>
          onChange(withLayouts(scratch, [...texts.filter((text) => common.includes(text)), ...entered]))
        }
        splitChars={[","]}
        value={others}
      />
    </SimpleGrid>
  );
}

function Boxes({ names }: { names: readonly string[] }) {
  return (
    <Group gap="sm" mt={6}>
      {names.map((name) => (
        <Checkbox key={name} label={name} value={name} />
      ))}
    </Group>
  );
}

function Filesystems({ scratch, onChange }: InputsProps) {
  const types = [...new Set(scratch.filesystems.map(({ type }) => type))];
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <Checkbox.Group
        label={t`File systems`}
        onChange={(picked) => onChange(withFilesystems(scratch, picked))}
        value={types}
      >
        <Boxes names={FILESYSTEMS} />
      </Checkbox.Group>
      <Stack gap="xs">
        {WITH_DATA.filter((type) => types.includes(type)).map((type) => (
          <DataModes key={type} onChange={onChange} scratch={scratch} type={type} />
        ))}
      </Stack>
    </SimpleGrid>
  );
}

function DataModes({ type, scratch, onChange }: InputsProps & { readonly type: Filesystem }) {
  const modes = scratch.filesystems.flatMap((choice) => (choice.type === type ? (choice.data ?? []) : []));
  return (
    <Checkbox.Group
      description={t`Each is a variant. None: the kernel's default.`}
      label={t`Data modes of ${type}`}
      onChange={(picked) => onChange(withData(scratch, type, picked))}
      value={[...new Set(modes)]}
    >
      <Boxes names={DATA_MODES} />
    </Checkbox.Group>
  );
}

const ALIGNMENTS = [
  { value: "default", label: t`default: mkfs asks the device` },
  { value: "aligned", label: t`aligned: mkfs gets the stripes` },
  { value: "unaligned", label: t`unaligned: mkfs gets none` },
] as const;

function MkfsAndMount({ scratch, onChange }: InputsProps) {
  const chosen: readonly string[] = scratch.options ?? [];
  return (
    <Stack gap="xs">
      <Checkbox.Group
        label={t`Alignment by mkfs`}
        onChange={(picked) =>
          onChange({
            ...scratch,
            options: ALIGNMENTS.map(({ value }) => value).filter((value) => picked.includes(value)),
          })
        }
        value={[...chosen]}
      >
        <Stack gap={6} mt={6}>
          {ALIGNMENTS.map(({ value, label }) => (
            <Checkbox key={value} label={label} value={value} />
          ))}
        </Stack>
      </Checkbox.Group>
      <TagsInput
        description={t`Each entry is a variant, such as noatime,commit=30, or “defaults”. Press Enter after each.`}
        label={t`Mount options`}
        onChange={(mount) => onChange({ ...scratch, mount })}
        splitChars={[";"]}
        value={[...(scratch.mount ?? [])]}
      />
    </Stack>
  );
}

const ROUNDS = Array.from({ length: MOST_ROUNDS }, (_, index) => String(index + 1));
const SYNCS = [
  { value: "wait", label: t`Wait until parity and mirrors are synchronised` },
  { value: "assume_clean", label: t`Assume clean: no parity` },
  { value: "zeroed", label: t`Write zeroes first, then assume clean` },
] as const;

function RoundsAndSync({ scratch, onChange }: InputsProps) {
  return (
    <Stack gap="xs">
      <NativeSelect
        data={ROUNDS}
        description={t`How often each variant is made. Rounds share the repeats.`}
        label={t`Rounds`}
        onChange={({ currentTarget: { value } }) => onChange({ ...scratch, rounds: Number(value) })}
        value={String(scratch.rounds)}
      />
      <NativeSelect
        data={[...SYNCS]}
        description={t`Of arrays with redundancy, before their first run.`}
        label={t`Synchronisation`}
        onChange={({ currentTarget: { value } }) => {
          const sync = SYNCS.find((known) => known.value === value)?.value ?? "wait";
          onChange({ ...scratch, sync });
        }}
        value={scratch.sync}
      />
      <Checkbox
        checked={scratch.except_impossible}
        description={t`Otherwise the server rejects the plan.`}
        label={t`Leave out impossible combinations`}
        onChange={({ currentTarget: { checked } }) => onChange({ ...scratch, except_impossible: checked })}
      />
    </Stack>
  );
}

const PRECONDITIONS = [
  { value: "none", label: t`None` },
  { value: "discard", label: t`Discard all blocks` },
  { value: "fill", label: t`Fill the file system to 85 %, then empty it` },
] as const;

function Preparation({ scratch, onChange }: InputsProps) {
  const [typed, setTyped] = useState<number | string>("");
  const isTyped = withFillPercent(scratch, typed).fill_ratio === (scratch.fill_ratio ?? undefined);
  return (
    <Stack gap="xs">
      <NativeSelect
        data={[...PRECONDITIONS]}
        description={t`Of the disks, for each make. A filled flash disk has no unwritten blocks.`}
        label={t`Precondition`}
        onChange={({ currentTarget: { value } }) =>
          onChange({
            ...scratch,
            precondition: PRECONDITIONS.find((known) => known.value === value)?.value ?? "none",
          })
        }
        value={scratch.precondition}
      />
      <NumberInput
        allowNegative={false}
        clampBehavior="strict"
        decimalScale={3}
        description={t`Share of each file system that files take before its runs, up to ${MOST_FILL_PERCENT} %. It is part of the variant. Leave it empty for none.`}
        label={t`Fill`}
        max={MOST_FILL_PERCENT}
        onChange={(entered) => {
          setTyped(entered);
          onChange(withFillPercent(scratch, entered));
        }}
        placeholder={t`none`}
        suffix=" %"
        value={isTyped ? typed : fillPercent(scratch)}
      />
    </Stack>
  );
}

function Serving({ scratch, onChange }: InputsProps) {
  const isServed = scratch.serves === "nfs";
  return (
    <Stack gap="xs">
      <Checkbox
        checked={isServed}
        description={t`The node exports each file system. The nodes that load other targets mount it before their runs.`}
        label={t`Serve by NFS`}
        onChange={({ currentTarget: { checked } }) => onChange(withServes(scratch, checked))}
      />
      {isServed && (
        <Text size="sm">
          {t`Under “Nodes and targets”, choose the clients and their target instead of ${placeOf(scratch)}. To measure on ${scratch.node} as well, edit the plan file.`}
        </Text>
      )}
    </Stack>
  );
}
