/** What else the sides are unlike in: differences only. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Stack } from "@mantine/core";
import type { SidesComparison, SidesRow } from "@/api/types";
import { useTitlesOf } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { plainCell } from "@/lib/exported";
import { type NamedRow, textOfPart, titleOfDimension } from "./sidesFigures";

interface SidesDifferencesProps {
  readonly found: SidesComparison;
  readonly named: readonly NamedRow[];
  readonly names: readonly string[];
  readonly isUnlike: boolean;
}

/** Differences only, each once however many rows have it. */
export function SidesDifferences({ found, named, names, isUnlike }: SidesDifferencesProps) {
  const titlesOf = useTitlesOf();
  const lines = named.flatMap(({ name, row }) =>
    row.differences.map(({ name: what, values }) => ({
      name,
      title: titleOfDimension(what, titlesOf(row.workload)),
      values: values.map((value, place) => (row.cells[place] ? plainCell(value) : null)),
      texts: values.map((value, place) => textOfSide(row, place, what, value)),
    })),
  );
  const once = [...new Map(lines.map((line) => [`${line.title} ${line.texts.join(" ")}`, line])).values()];
  if (once.length === 0) return null;
  return (
    <Section title={t`Differences`}>
      <Stack gap="xs">
        {isUnlike && (
          <Alert color="orange" variant="light">
            <Trans>
              Not all of these ran the same. A ratio between what is unlike says little, and is grey.
            </Trans>
          </Alert>
        )}
        <ScrollTable head={[t`Unlike in`, ...names, t`First seen at`]} label={t`Differences`}>
          {once.map(({ name, title, texts, values }) => (
            <tr key={`${title} ${texts.join(" ")}`}>
              <td>{title}</td>
              {texts.map((text, place) => (
                <td className="iotide-wrap" key={names[place]}>
                  <span data-export={JSON.stringify({ value: values[place] })}>{text}</span>
                </td>
              ))}
              <td className="iotide-wrap">{found.rows.length > 1 ? name : ""}</td>
            </tr>
          ))}
        </ScrollTable>
      </Stack>
    </Section>
  );
}

/** Nothing of a side that the row has not; “none” of one that lacks the option. */
function textOfSide(row: SidesRow, place: number, what: string, value: unknown): string {
  return row.cells[place] ? textOfPart(what, value) : "";
}
