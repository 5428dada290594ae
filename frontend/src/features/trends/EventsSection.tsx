/** What changed outside of the results, and what that did to the drawn series. */

import { t } from "@lingui/core/macro";
import { Anchor } from "@mantine/core";
import { RemoveEventButton } from "@/components/events/RemoveEventButton";
import { Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Datum, When } from "@/components/values";
import { formatP } from "@/lib/units";
import type { Analyses, NamedPoints } from "./drawn";

interface EventsSectionProps {
  readonly lines: readonly NamedPoints[];
  readonly analyses: Analyses;
  /** Chosen here or in the chart, and the one under the pointer there. */
  readonly chosenId: number | undefined;
  readonly pointedAtId: number | null;
  readonly onChoose: (eventId: number | undefined) => void;
}

export function EventsSection({ lines, analyses, chosenId, pointedAtId, onChoose }: EventsSectionProps) {
  const rows = lines.flatMap(({ name, points }) =>
    (analyses.get(points.series.id)?.events ?? []).map((found) => ({ name, id: points.series.id, ...found })),
  );
  if (rows.length === 0) return null;
  const newestFirst = rows.toSorted((a, b) => Date.parse(b.event.at) - Date.parse(a.event.at));
  return (
    <Section
      description={t`What runs met, as another kernel or mount option, and events that people added; each judged by the points before and after it.`}
      title={t`Events`}
    >
      <ScrollTable
        head={[t`When`, t`What`, t`Source`, t`Series`, t`Effect`, "p", ""]}
        label={t`Events`}
        maxHeight={440}
      >
        {newestFirst.map(({ name, id, event, words, p_value }) => (
          <Row
            data-chosen={event.id === chosenId || undefined}
            data-pointed-at={event.id === pointedAtId || undefined}
            key={`${event.id} ${id}`}
          >
            <Anchor
              aria-pressed={event.id === chosenId}
              component="button"
              onClick={() => onChoose(event.id === chosenId ? undefined : event.id)}
              size="sm"
              title={t`Point it out in the chart`}
              type="button"
            >
              <When at={event.at} />
            </Anchor>
            <td className="iotide-wrap">{event.text}</td>
            {event.told_by ?? t`runs`}
            <td className="iotide-name">{name}</td>
            <td className="iotide-wrap">{words}</td>
            {p_value !== null && <Datum value={p_value}>{formatP(p_value)}</Datum>}
            <RemoveEventButton event={event} />
          </Row>
        ))}
      </ScrollTable>
    </Section>
  );
}
