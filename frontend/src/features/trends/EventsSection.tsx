/** What changed outside of the results, and what that did to the drawn series. */

import type { SeriesAnalysis } from "@/api/types";
import { RemoveEventButton } from "@/components/events/RemoveEventButton";
import { Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/When";
import { formatP } from "@/lib/units";
import type { NamedPoints } from "./TrendChart";

interface EventsSectionProps {
  readonly lines: readonly NamedPoints[];
  readonly analyses: ReadonlyMap<number, SeriesAnalysis>;
}

export function EventsSection({ lines, analyses }: EventsSectionProps) {
  const rows = lines.flatMap(({ name, points }) =>
    (analyses.get(points.series.id)?.events ?? []).map((found) => ({ name, id: points.series.id, ...found })),
  );
  if (rows.length === 0) return null;
  const newestFirst = rows.toSorted((a, b) => Date.parse(b.event.at) - Date.parse(a.event.at));
  return (
    <Section
      description="What runs met, as another kernel or mount option, and what people told of; each judged by the points before and after it."
      title="Events"
    >
      <ScrollTable
        head={["When", "What", "Told by", "Series", "Effect", "p", ""]}
        label="Events"
        maxHeight={440}
      >
        {newestFirst.map(({ name, id, event, words, p_value }) => (
          <tr key={`${event.id} ${id}`}>
            <td>
              <When at={event.at} />
            </td>
            <td className="iotide-wrap">{event.text}</td>
            <td>{event.told_by ?? "runs"}</td>
            <td className="iotide-name">{name}</td>
            <td className="iotide-wrap">{words}</td>
            <td>{p_value === null ? "" : formatP(p_value)}</td>
            <td>
              <RemoveEventButton event={event} />
            </td>
          </tr>
        ))}
      </ScrollTable>
    </Section>
  );
}
