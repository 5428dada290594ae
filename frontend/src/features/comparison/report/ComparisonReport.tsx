/** Printable report of a comparison: answer, figures, a table of the primary metrics, and differences in setup. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { reportPdf } from "@/api/reportPdf";
import type { SideVerdict } from "@/api/types";
import { conditionsOf } from "@/components/conditionsOf";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded } from "@/components/Page";
import { PaperTable } from "@/components/PaperTable";
import { PaperFold, ReportPage } from "@/components/report/ReportPage";
import { useUnitsWords } from "@/components/UnitsNote";
import { formatExactTime } from "@/lib/time";
import { formatFactor, formatP, formatValue } from "@/lib/units";
import { Still } from "@/plots/Still";
import { shiftsFigure, shiftsHeight } from "@/plots/shifts";
import { AnswerBody } from "../answer/AnswerBody";
import { type Contrast, contrastsOf } from "../answer/contrasts";
import {
  type Compared,
  chooseNumber,
  optionOf,
  runsFigure,
  shiftsOf,
  textOfPart,
  titleOfDimension,
} from "../compared";
import { NO_SIDES, useNamedPairs, useNamedSides } from "../named";
import { type ComparedMany, type ComparedSides, comparisonQuery, sidesQuery } from "../queries";

const WIDTH_PX = 680;
const HEIGHT_PX = 320;
/** More rows of the table are folded. */
const MOST_PRINTED_ROWS = 25;

interface SheetProps {
  readonly back: ReactNode;
  /** Metric of the figures; undefined: the first. */
  readonly metric: string | undefined;
}

export function SidesReport({ many, ...sheet }: SheetProps & { readonly many: ComparedMany }) {
  const query = useQuery(sidesQuery(many));
  const compared = useNamedSides(query.data ?? NO_SIDES);
  const { campaigns, cells, by, against } = many;
  const pdf = reportPdf("comparison", {
    campaign: campaigns,
    cell: cells,
    by,
    against,
    metric: sheet.metric,
  });
  return <Loaded query={query}>{() => <Sheet compared={compared} pdf={pdf} {...sheet} />}</Loaded>;
}

export function PairReport({ sides, ...sheet }: SheetProps & { readonly sides: ComparedSides }) {
  const query = useQuery(comparisonQuery(sides));
  const compared = useNamedPairs(query.data?.pairs ?? NO_PAIRS);
  const names = [t`A (campaign ${sides.a})`, t`B (campaign ${sides.b})`];
  const { a, b, aCell, bCell } = sides;
  const pdf = reportPdf("comparison", { a, b, a_cell: aCell, b_cell: bCell, metric: sheet.metric });
  return (
    <Loaded query={query}>{() => <Sheet compared={{ ...compared, names }} pdf={pdf} {...sheet} />}</Loaded>
  );
}

const NO_PAIRS: readonly never[] = [];

function Sheet({
  compared,
  pdf,
  back,
  metric,
}: SheetProps & { readonly compared: Compared; readonly pdf: string }) {
  const title = t`Comparison of ${compared.names.join(", ")}`;
  const contrasts = contrastsOf(compared);
  const cells = compared.rows.flatMap((row) => row.cells.flatMap((cell) => cell ?? []));
  const campaigns = [
    ...new Set(cells.map(({ campaign_id: id, campaign_name: name }) => [name, id].filter(Boolean).join(" "))),
  ];
  const units = useUnitsWords();
  return (
    <ReportPage back={back} fileName="comparison" pdf={pdf} title={title}>
      <h1>{title}</h1>
      <p className="quiet">
        {t`Campaigns: ${campaigns.join(", ")}. Created on ${formatExactTime(new Date().toISOString())}.`}
      </p>
      <h2>{t`Answer`}</h2>
      {contrasts.length > 0 ? <AnswerBody contrasts={contrasts} /> : <p>{t`No common primary metric.`}</p>}
      <h2>{t`Figures`}</h2>
      <Figures compared={compared} metric={metric} />
      <h2>{t`Primary metrics`}</h2>
      <ContrastTable contrasts={contrasts.slice(0, MOST_PRINTED_ROWS)} label={t`Primary metrics`} />
      {contrasts.length > MOST_PRINTED_ROWS && (
        <PaperFold title={t`${contrasts.length - MOST_PRINTED_ROWS} more primary metrics`}>
          <ContrastTable contrasts={contrasts.slice(MOST_PRINTED_ROWS)} label={t`More primary metrics`} />
        </PaperFold>
      )}
      <p className="quiet">
        {t`Ratios have 95 % confidence intervals. Verdicts are corrected for the number of primary metrics.`}{" "}
        {units}
      </p>
      <Differences compared={compared} />
    </ReportPage>
  );
}

function Figures({ compared, metric = "" }: Pick<SheetProps, "metric"> & { readonly compared: Compared }) {
  const { names, rows, against } = compared;
  const titleOf = useTitlesOf()(rows[0]?.workload ?? "");
  const { title, drawn } = chooseNumber(compared, metric, titleOf);
  const shifts = shiftsOf(drawn, names);
  if (drawn.length === 0) return <p>{t`No results to draw.`}</p>;
  return (
    <>
      <h3>{title}</h3>
      <div className="figure">
        <Still figure={runsFigure(drawn, names, "light")} height={HEIGHT_PX} label={title} width={WIDTH_PX} />
      </div>
      {shifts.some(({ ratio }) => ratio !== null) && (
        <div className="figure">
          <Still
            figure={shiftsFigure(shifts, "light", t`Relative to ${names[against] ?? ""} (%)`)}
            height={shiftsHeight(shifts)}
            label={t`${title}, sides relative to the baseline`}
            width={WIDTH_PX}
          />
        </div>
      )}
    </>
  );
}

const HEAD = [t`Metric`, t`Side`, t`Median`, t`Baseline`, t`Ratio`, t`Verdict`, "p"];

interface ContrastTableProps {
  readonly contrasts: readonly Contrast[];
  readonly label: string;
}

function ContrastTable({ contrasts, label }: ContrastTableProps) {
  return (
    <PaperTable head={HEAD} label={label}>
      {contrasts.map(({ key, what, side, medians: [own, base], metric: { unit }, runs, verdict }) => (
        <tr key={key}>
          <td className="strong">{what}</td>
          <td>{side}</td>
          <td>{t`${formatValue(own, unit)}, ${runs[0]} runs`}</td>
          <td>{t`${formatValue(base, unit)}, ${runs[1]} runs`}</td>
          <td className="number">{ratioWords(verdict)}</td>
          <td>{[verdict.words, ...conditionsOf(verdict)].join("; ")}</td>
          <td>{verdict.p_value !== null && formatP(verdict.p_value)}</td>
        </tr>
      ))}
    </PaperTable>
  );
}

function ratioWords({ ratio, low, high, median_ratio }: SideVerdict): string {
  if (ratio !== null && low !== null && high !== null)
    return t`${formatFactor(ratio)} (${formatFactor(low)} to ${formatFactor(high)})`;
  return median_ratio === null ? "" : formatFactor(median_ratio);
}

function Differences({ compared: { names, rows } }: { readonly compared: Compared }) {
  const titlesOf = useTitlesOf();
  const lines = rows.flatMap(({ differences, workload }) =>
    differences.map(({ name, values }) => [
      titleOfDimension(name, titlesOf(workload)),
      ...values.map((value) => textOfPart(optionOf(name), value)),
    ]),
  );
  const once = [...new Map(lines.map((line) => [line.join("\n"), line])).values()];
  if (once.length === 0) return null;
  return (
    <>
      <h2>{t`Other differences in setup`}</h2>
      <PaperTable head={[t`Property`, ...names]} label={t`Other differences in setup`}>
        {once.map((line) => (
          <tr key={line.join("\n")}>
            {line.map((text, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
              <td key={place}>{text}</td>
            ))}
          </tr>
        ))}
      </PaperTable>
    </>
  );
}
