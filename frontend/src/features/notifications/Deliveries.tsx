import { t } from "@lingui/core/macro";
import { Stack, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Channel, Delivery } from "@/api/types";
import { Hint } from "@/components/looks";
import { Loaded, ShowMore } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/values";
import { deliveriesQuery } from "./queries";

export default function Deliveries({ channel }: { channel: Channel }) {
  const deliveries = useInfiniteQuery(deliveriesQuery(channel.id));
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {t`Messages of ${channel.name}`}
      </Title>
      <Loaded
        empty={<Hint>{t`No messages in the last 90 days.`}</Hint>}
        isEmpty={({ pages }) => pages.every(({ items }) => items.length === 0)}
        query={deliveries}
      >
        {({ pages }) => (
          <ScrollTable
            head={[t`Time`, t`Message`, t`State`, t`Attempts`, t`Last response`]}
            label={t`Messages`}
          >
            {pages
              .flatMap(({ items }) => items)
              .map((delivery) => (
                <DeliveryRow delivery={delivery} key={delivery.id} />
              ))}
          </ScrollTable>
        )}
      </Loaded>
      <ShowMore query={deliveries} />
    </Stack>
  );
}

function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const last = delivery.attempts.at(-1);
  return (
    <Row>
      <When at={delivery.created_at} />
      <td className="iotide-wrap">{delivery.subject}</td>
      <td>
        {delivery.state}
        {delivery.due_at && <When at={delivery.due_at} prefix={t`, next attempt `} />}
      </td>
      {delivery.attempts.length}
      <td className="iotide-wrap">{last && (last.words ?? t`none yet`)}</td>
    </Row>
  );
}
