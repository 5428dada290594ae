import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import type { TrendEvent } from "@/api/types";
import { Fold } from "@/components/Fold";
import { Loaded } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/values";
import { RunLink } from "../links";
import { differencesOf } from "./differences";
import { type EventSubject, eventsQuery } from "./queries";
import { RemoveEventButton } from "./RemoveEventButton";

const MAX_HEIGHT = 440;

export function EventHistory({ subject }: { subject: EventSubject }) {
  const events = useQuery(eventsQuery(subject));
  return (
    <Fold summary={t`facts that changed between runs, and events added by users`} title={t`Changes`}>
      <Loaded
        empty={t`No changes yet. Each run compares its facts with the previous run. A new kernel, mount option or stripe appears here.`}
        query={events}
      >
        {(rows) => (
          <ScrollTable
            head={[t`When`, t`Change`, t`Before`, t`After`, t`Source`, t`Effect`, ""]}
            label={t`Changes`}
            maxHeight={MAX_HEIGHT}
          >
            {rows.map((event) => (
              <EventRows event={event} key={event.id} />
            ))}
          </ScrollTable>
        )}
      </Loaded>
    </Fold>
  );
}

function EventRows({ event }: { event: TrendEvent }) {
  return differencesOf(event).map((difference, place) => (
    <tr key={difference.what}>
      <td>{place === 0 && <When at={event.at} />}</td>
      <td className="iotide-wrap" colSpan={difference.before === null ? 3 : 1}>
        {difference.what}
      </td>
      {difference.before !== null && (
        <>
          <td className="iotide-name">{difference.before}</td>
          <td className="iotide-name">{difference.after}</td>
        </>
      )}
      <td>{place === 0 && <By event={event} />}</td>
      <td className="iotide-wrap">{place === 0 && event.series_words}</td>
      <td>{place === 0 && <RemoveEventButton event={event} />}</td>
    </tr>
  ));
}

function By({ event }: { event: TrendEvent }) {
  if (event.told_by) return <>{event.told_by}</>;
  if (event.run_id === null) return t`runs`;
  return <RunLink id={event.run_id} name={t`Run ${event.run_id}`} />;
}
