/** What happened to a run, line by line. */

import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Loaded } from "@/components/Loaded";
import { Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { formatExactTime, formatLogTime } from "@/lib/time";
import { runEventsQuery } from "./queries";

export function EventLog({ runId }: { runId: number }) {
  const events = useQuery(runEventsQuery(runId));
  return (
    <Section title={t`Log`}>
      <Loaded empty={<Text c="dimmed">{t`Nothing has happened yet.`}</Text>} query={events}>
        {(rows) => (
          <ScrollTable head={[t`Time`, t`Event`, t`What`]} label={t`Event log`} maxHeight={400}>
            {rows.map(({ at, kind, text }) => (
              <tr key={`${at} ${kind} ${text}`}>
                <td title={formatExactTime(at)}>{formatLogTime(at)}</td>
                <td>{kind}</td>
                <td className="iotide-wrap">{text}</td>
              </tr>
            ))}
          </ScrollTable>
        )}
      </Loaded>
    </Section>
  );
}
