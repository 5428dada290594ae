/** Enters a maintenance of a cluster, by the reader's own clock. */

import { t } from "@lingui/core/macro";
import { Button, Group, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { ErrorNotice } from "@/components/Page";
import { fromLocalTime, shownTimeZone } from "@/lib/time";
import { createBlackout } from "./queries";

export default function CreateBlackout({ clusterId, onDone }: { clusterId: number; onDone: () => void }) {
  const create = useMutation(createBlackout);
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    const moment = (name: string) => fromLocalTime(String(entered.get(name)));
    const body = {
      starts_at: moment("from"),
      ends_at: moment("until"),
      reason: String(entered.get("reason")),
    };
    create.mutate({ clusterId, ...body }, { onSuccess: onDone });
  }
  return (
    <form aria-label={t`New blackout`} onSubmit={submit}>
      {create.error && <ErrorNotice error={create.error} />}
      <Group align="flex-end">
        <TextInput description={shownTimeZone()} label={t`From`} name="from" required type="datetime-local" />
        <TextInput
          description={shownTimeZone()}
          label={t`Until`}
          name="until"
          required
          type="datetime-local"
        />
        <TextInput
          flex={1}
          label={t`Reason`}
          maxLength={200}
          miw={200}
          name="reason"
          placeholder={t`new firmware on the switches`}
          required
        />
        <Button loading={create.isPending} type="submit">{t`Enter blackout`}</Button>
      </Group>
    </form>
  );
}
