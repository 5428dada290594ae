import { t } from "@lingui/core/macro";
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { ErrorNotice } from "@/components/Page";
import { submitted } from "@/components/submitted";
import { fromLocalTime, shownTimeZone } from "@/lib/time";
import { Dialog } from "../Dialog";
import { type DrainSubject, drainSubject } from "./queries";

const LONGEST_REASON = 500;

interface DrainModalProps {
  readonly subject: DrainSubject;
  readonly name: string;
  readonly onClose: () => void;
}

export default function DrainModal({ subject, name, onClose }: DrainModalProps) {
  const drain = useMutation(drainSubject);
  const submit = submitted((text) => {
    const wanted = { reason: text("reason"), until: text("until") ? fromLocalTime(text("until")) : null };
    drain.mutate({ subject, wanted }, { onSuccess: onClose });
  });
  return (
    <Dialog onClose={onClose} title={t`Drain ${name}`}>
      <form aria-label={t`Drain ${name}`} onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm">{t`No new runs start here. Active runs continue, and waiting runs show the reason.`}</Text>
          <TextInput
            data-autofocus
            label={t`Reason`}
            maxLength={LONGEST_REASON}
            name="reason"
            placeholder={t`disk replacement`}
            required
          />
          <TextInput
            description={t`Resumes automatically at this time (${shownTimeZone()}). Empty: until resumed manually.`}
            label={t`Until`}
            name="until"
            type="datetime-local"
          />
          {drain.error && <ErrorNotice error={drain.error} />}
          <Group justify="flex-end">
            <Button onClick={onClose} variant="default">{t`Cancel`}</Button>
            <Button loading={drain.isPending} type="submit">{t`Drain`}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
