/** Form for a maintenance window, in the displayed time zone. */

import { t } from "@lingui/core/macro";
import { Button, Group, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { ErrorNotice } from "@/components/Page";
import { submitted } from "@/components/submitted";
import { fromLocalTime, shownTimeZone } from "@/lib/time";
import { createMaintenance } from "./queries";

export default function CreateMaintenance({ clusterId, onDone }: { clusterId: number; onDone: () => void }) {
  const create = useMutation(createMaintenance);
  const submit = submitted((text) => {
    const [starts_at, ends_at] = [fromLocalTime(text("from")), fromLocalTime(text("until"))];
    create.mutate({ clusterId, starts_at, ends_at, reason: text("reason") }, { onSuccess: onDone });
  });
  return (
    <form aria-label={t`New maintenance window`} onSubmit={submit}>
      {create.error && <ErrorNotice error={create.error} />}
      <Group align="flex-end">
        <TextInput
          description={shownTimeZone()}
          label={t`Start`}
          name="from"
          required
          type="datetime-local"
        />
        <TextInput description={shownTimeZone()} label={t`End`} name="until" required type="datetime-local" />
        <TextInput
          flex={1}
          label={t`Reason`}
          maxLength={200}
          miw={200}
          name="reason"
          placeholder={t`switch firmware upgrade`}
          required
        />
        <Button loading={create.isPending} type="submit">{t`Save maintenance window`}</Button>
      </Group>
    </form>
  );
}
