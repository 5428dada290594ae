/** Stripes, alignments and mkfs commands of a layout. */

import { t } from "@lingui/core/macro";
import { Code, DataList, List, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Stripes } from "@/api/types";
import { Definition } from "@/components/Definition";
import { Problem } from "@/components/looks";
import { Loaded, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { stripesQuery } from "./queries";
import { sizeWords, stripeWords } from "./stripes";

export function StripesSection({ layout }: { layout: string }) {
  return (
    <Loaded lines={8} query={useQuery(stripesQuery(layout))}>
      {(stripes) => (
        <Section title={stripes.layout}>
          <Stack>
            <Numbers stripes={stripes} />
            <Commands stripes={stripes} />
            {stripes.notes.length > 0 && (
              <List size="sm">
                {stripes.notes.map((note) => (
                  <List.Item key={note}>{note}</List.Item>
                ))}
              </List>
            )}
          </Stack>
        </Section>
      )}
    </Loaded>
  );
}

function Numbers({ stripes }: { stripes: Stripes }) {
  const { chunk_bytes: chunk, width_bytes: width, lvm_chunk_choices_bytes: choices } = stripes;
  return (
    <DataList size="sm">
      <Definition label={t`Data disks`}>{t`${stripes.data_disks} of ${stripes.disks}`}</Definition>
      <Definition label={t`Chunk, full stripe`}>
        {chunk === null || width === null ? t`no stripes` : `${sizeWords(chunk)}, ${sizeWords(width)}`}
      </Definition>
      <Definition label={t`Minimum, optimal I/O as the kernel reports them`}>
        {sizeWords(stripes.minimum_io_bytes)}, {sizeWords(stripes.optimal_io_bytes)}
      </Definition>
      <Definition label={t`Partitions start at multiples of`}>
        {sizeWords(stripes.start_multiple_bytes)}
      </Definition>
      {choices && (
        <>
          <Definition label={t`LVM data on the arrays starts at`}>
            {sizeWords(stripes.pe_start_bytes)}
          </Definition>
          <Definition label={t`“lvcreate -I” over such arrays`}>
            {choices.map(sizeWords).join(", ") || t`none keeps full stripes`}
          </Definition>
        </>
      )}
    </DataList>
  );
}

function Commands({ stripes }: { stripes: Stripes }) {
  return (
    <ScrollTable
      head={[t`File system`, t`Alignment`, t`Stripes after mkfs`, t`Command`]}
      label={t`mkfs commands for ${stripes.layout}`}
    >
      {stripes.mkfs.map((mkfs) => (
        <Row key={`${mkfs.filesystem} ${mkfs.align}`}>
          {mkfs.filesystem}
          {mkfs.align}
          {mkfs.problem === null ? stripeWords(mkfs, stripes.block_bytes) : t`impossible`}
          <td className="iotide-wrap">
            {mkfs.command ? <Code>{mkfs.command.join(" ")}</Code> : <Problem>{mkfs.problem}</Problem>}
          </td>
        </Row>
      ))}
    </ScrollTable>
  );
}

export function LayoutForms() {
  return (
    <Text c="dimmed" size="sm">
      {t`Write single, raid0:4x64K, raid1:2, raid5:4x64K, raid6:6x64K, raid10:4x64K, lvm-stripe:4x256K, lvm-linear:3, lvm-stripe:2x256K/raid5:3x64K or btrfs-raid1:4.`}
    </Text>
  );
}
