/** Rank of an IO500 result in a list that the user opens. The file stays in the browser. */

import { t } from "@lingui/core/macro";
import { Button, FileButton, Group, Stack } from "@mantine/core";
import { useRef, useState } from "react";
import type { Sample } from "@/api/types";
import { Hint, Problem } from "@/components/looks";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Datum, Quantity } from "@/components/values";
import { formatCount, formatFactor } from "@/lib/units";
import type { Io500 } from "./io500";
import {
  type Io500List,
  LARGEST_LIST_BYTES,
  ListError,
  type ListedSystem,
  type RankedBy,
  rankIn,
  readList,
} from "./io500List";

const HEAD = [t`Ranked by`, t`This run`, t`Rank`, t`Next better`, t`Next lower`];

export function PlaceResult({ result }: { result: Io500 }) {
  const [list, setList] = useState<Io500List>();
  const [problem, setProblem] = useState<string>();
  const forget = useRef<() => void>(null);
  if (!result.score) return null;
  if (result.isMini)
    return (
      <Hint>{t`A run with another stonewall time than 300 s is not compared with published scores.`}</Hint>
    );
  async function open(file: File | null): Promise<void> {
    if (!file) return;
    // So that choosing the same file again, corrected meanwhile, reads it again.
    forget.current?.();
    try {
      setList(await read(file));
      setProblem(undefined);
    } catch (error) {
      if (!(error instanceof ListError)) throw error;
      setList(undefined);
      setProblem(error.message);
    }
  }
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <FileButton accept=".csv,text/csv,text/plain" onChange={(file) => void open(file)} resetRef={forget}>
          {(button) => <Button {...button} size="xs" variant="default">{t`Compare with list`}</Button>}
        </FileButton>
        <Hint>{t`A list of io500.org as CSV. The file stays in this browser.`}</Hint>
      </Group>
      {problem && <Problem role="alert">{problem}</Problem>}
      {list && <Ranks list={list} result={result} />}
    </Stack>
  );
}

async function read(file: File): Promise<Io500List> {
  if (file.size > LARGEST_LIST_BYTES)
    throw new ListError(t`${file.name} is larger than 16 MiB. Choose a list of io500.org as CSV.`);
  const text = await file.text().catch(() => {
    throw new ListError(t`${file.name} cannot be read. Choose it again.`);
  });
  return readList(file.name, text);
}

function Ranks({ list, result }: { list: Io500List; result: Io500 }) {
  const { systems, skipped, fileName } = list;
  const rows: readonly [RankedBy, string, Sample | undefined][] = [
    ["score", t`Score`, result.score],
    ["bandwidth", t`Bandwidth (BW)`, result.bandwidth],
    ["metadata", t`Metadata (MD)`, result.metadata],
  ];
  return (
    <>
      <ScrollTable head={HEAD} label={t`Rank in ${fileName}`}>
        {rows.map(
          ([by, title, sample]) =>
            sample && <RankRow by={by} key={by} list={list} sample={sample} title={title} />,
        )}
      </ScrollTable>
      <Hint>
        {t`${fileName}: ${formatCount(systems.length)} systems with a score.`}
        {skipped > 0 && t` ${formatCount(skipped)} without one are not counted.`}
        {result.reasons.length > 0 && t` This run is invalid, so it would not be listed.`}
      </Hint>
    </>
  );
}

interface RankRowProps {
  readonly by: RankedBy;
  readonly title: string;
  readonly list: Io500List;
  readonly sample: Sample;
}

function RankRow({ by, title, list, sample }: RankRowProps) {
  const { rank, of, above, below } = rankIn(list, by, sample.value);
  return (
    <Row>
      {title}
      <Value by={by} sample={sample} value={sample.value} />
      <Datum value={rank}>{t`${formatCount(rank)} of ${formatCount(of + 1)}`}</Datum>
      <Neighbour by={by} sample={sample} system={above} />
      <Neighbour by={by} sample={sample} system={below} />
    </Row>
  );
}

/** Scores have no unit and three significant digits. */
function Value({ by, sample, value }: Pick<RankRowProps, "by" | "sample"> & { readonly value: number }) {
  if (by === "score") return <Datum value={value}>{formatFactor(value)}</Datum>;
  return <Quantity unit={sample.unit} value={value} />;
}

interface NeighbourProps extends Pick<RankRowProps, "by" | "sample"> {
  readonly system: ListedSystem | undefined;
}

function Neighbour({ by, sample, system }: NeighbourProps) {
  if (!system) return t`none`;
  return (
    <>
      {system.name}: <Value by={by} sample={sample} value={system[by] ?? 0} />
    </>
  );
}
