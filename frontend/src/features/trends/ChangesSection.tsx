/** Changes of the drawn series according to the latest analyses. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Anchor, Badge } from "@mantine/core";
import type { ReactNode } from "react";
import type { SeriesAnalysis, SeriesChange } from "@/api/types";
import { UnconfirmedBadge } from "@/components/badges";
import { Detail } from "@/components/looks";
import { Section } from "@/components/Page";
import { Reasons } from "@/components/Reasons";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Datum, Quantity, When } from "@/components/values";
import { formatP, type Unit } from "@/lib/units";
import { type ChosenPoint, listedChanges, type NamedPoints } from "./drawn";

interface ChangesSectionProps {
  readonly lines: readonly NamedPoints[];
  readonly analyses: ReadonlyMap<number, SeriesAnalysis>;
  readonly onChoose: (point: ChosenPoint) => void;
}

export function ChangesSection({ lines, analyses, onChoose }: ChangesSectionProps) {
  const analysed = lines.flatMap(({ name, points: { series } }) => {
    const analysis = analyses.get(series.id);
    return analysis ? [{ name, unit: series.unit, analysis }] : [];
  });
  if (analysed.length === 0) return null;
  return (
    <Section
      description={t`A change is reported if there are at least 5 points on each side, the median shifts by 3 % or more, and p < 0.001.`}
      title={t`Changes`}
    >
      <ScrollTable head={[t`Series`, t`Change`, t`Since`, t`Before`, t`After`, "p"]} label={t`Changes`}>
        {analysed.map(({ name, unit, analysis }) => (
          <SeriesRows
            analysis={analysis}
            key={analysis.series_id}
            name={name}
            onChoose={onChoose}
            unit={unit}
          />
        ))}
      </ScrollTable>
    </Section>
  );
}

interface SeriesRowsProps {
  readonly name: string;
  readonly unit: Unit;
  readonly analysis: SeriesAnalysis;
  readonly onChoose: (point: ChosenPoint) => void;
}

function SeriesRows({ name, unit, analysis, onChoose }: SeriesRowsProps) {
  return (
    <>
      {analysis.changes.length === 0 && (
        <tr>
          <td className="iotide-name">{name}</td>
          <td className="iotide-wrap" colSpan={5}>
            {analysis.words}
            {analysis.suspect && <Suspected isHigher={analysis.suspect.is_higher} />}
            <Findable analysis={analysis} />
          </td>
        </tr>
      )}
      {analysis.noise && <NoiseRow name={name} noise={analysis.noise} />}
      {listedChanges(analysis.changes)
        .toReversed()
        .map((change, place) => (
          <ChangeRow change={change} key={change.id} name={name} onChoose={onChoose} unit={unit}>
            {place === 0 && <Findable analysis={analysis} />}
          </ChangeRow>
        ))}
    </>
  );
}

/** Smallest changes that the analysis finds with the scatter of the series. */
function Findable({ analysis: { findable_words: words } }: { analysis: SeriesAnalysis }) {
  return words && <Detail>{words}</Detail>;
}

function NoiseRow({ name, noise }: { name: string; noise: NonNullable<SeriesAnalysis["noise"]> }) {
  return (
    <Row>
      <td className="iotide-name">{name}</td>
      <td className="iotide-wrap">
        {noise.words}
        {noise.confirmed_at === null && <UnconfirmedBadge />}
      </td>
      <When at={noise.at} />
      <td colSpan={2} />
      <Datum value={noise.p_value}>{formatP(noise.p_value)}</Datum>
    </Row>
  );
}

function Suspected({ isHigher }: { isHigher: boolean }) {
  return (
    <Badge color="orange" ml="xs">
      <Trans>suspected: the newest points are {isHigher ? t`higher` : t`lower`}</Trans>
    </Badge>
  );
}

interface ChangeRowProps {
  readonly name: string;
  readonly unit: Unit;
  readonly change: SeriesChange;
  readonly onChoose: (point: ChosenPoint) => void;
  readonly children: ReactNode;
}

function ChangeRow({ name, unit, change, onChoose, children }: ChangeRowProps) {
  return (
    <Row>
      <td className="iotide-name">{name}</td>
      <td className="iotide-wrap">
        {change.words}
        <Reasons reasons={change.reasons} />
        {change.confirmed_at === null && <UnconfirmedBadge />}
        {children}
      </td>
      <Anchor
        component="button"
        onClick={() => onChoose({ seriesId: change.series_id, cellId: change.cell_id })}
        size="sm"
        type="button"
      >
        <When at={change.at} />
      </Anchor>
      <Quantity unit={unit} value={change.median_before} />
      <Quantity unit={unit} value={change.median_after} />
      <Datum value={change.p_value}>{formatP(change.p_value)}</Datum>
    </Row>
  );
}
