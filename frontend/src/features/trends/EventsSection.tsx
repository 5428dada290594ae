/** Events with their effect on the drawn series. */

import { t } from "@lingui/core/macro";
import { Anchor, Text } from "@mantine/core";
import { RemoveEventButton } from "@/components/events/RemoveEventButton";
import { Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Datum, When } from "@/components/values";
import { formatP } from "@/lib/units";
import type { Analyses, NamedPoints } from "./drawn";

interface EventsSectionProps {
  readonly lines: readonly NamedPoints[];
  readonly analyses: Analyses;
  /** Chosen here or in the chart; `pointedAtId` is under the pointer. */
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
      description={t`Changes detected in run environments (kernel, mount options, …) and events added by users, with their measured effect on this series.`}
      title={t`Events`}
    >
      <ScrollTable
        head={[t`Time`, t`Event`, t`Source`, t`Series`, t`Effect`, "p", ""]}
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
              title={t`Show in chart`}
              type="button"
            >
              <When at={event.at} />
            </Anchor>
            <td className="iotide-wrap">
              {event.text}
              {event.series_words !== null && (
                <Text c="dimmed" size="xs">
                  {event.series_words}
                </Text>
              )}
            </td>
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
