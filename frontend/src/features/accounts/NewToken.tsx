/** The form that makes an API token, and the token, which is shown this once. */

import { t } from "@lingui/core/macro";
import { Alert, Button, Checkbox, Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Command } from "@/components/Command";
import { ErrorNotice } from "@/components/Page";
import { createToken, type Scope } from "./queries";

const SCOPES: readonly { value: Scope; label: string }[] = [
  { value: "read", label: t`read: see everything you may see` },
  { value: "operate", label: t`operate: submit and cancel campaigns` },
  { value: "admin", label: t`admin: nodes, targets and clusters` },
];
const USUAL_DAYS = "90";
const NO_END = "none";
const LIFETIMES = [
  { value: "1", label: t`1 day` },
  { value: "30", label: t`30 days` },
  { value: USUAL_DAYS, label: t`90 days` },
  { value: "365", label: t`1 year` },
  { value: NO_END, label: t`No end, until somebody revokes it` },
];
const DAY_MILLISECONDS = 86_400_000;

export function NewToken() {
  const create = useMutation(createToken);
  const [scopes, setScopes] = useState<string[]>(["read"]);
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    const entered = new FormData(form);
    const days = entered.get("days");
    const expiresAt =
      days === NO_END ? null : new Date(Date.now() + Number(days) * DAY_MILLISECONDS).toISOString();
    const chosen = SCOPES.map(({ value }) => value).filter((scope) => scopes.includes(scope));
    create.mutate(
      { name: String(entered.get("name")), scopes: chosen, expires_at: expiresAt },
      { onSuccess: () => form.reset() },
    );
  }
  return (
    <form aria-label={t`New token`} onSubmit={submit}>
      <Stack gap="sm">
        {create.error && <ErrorNotice error={create.error} />}
        {create.data && <ShownOnce name={create.data.name} token={create.data.token} />}
        <Group align="flex-end">
          <TextInput label={t`Name`} maxLength={100} name="name" placeholder={t`nightly cron`} required />
          <NativeSelect data={LIFETIMES} defaultValue={USUAL_DAYS} label={t`Ends after`} name="days" />
        </Group>
        <Checkbox.Group label={t`Scopes`} onChange={setScopes} value={scopes}>
          <Stack gap={6} mt={4}>
            {SCOPES.map(({ value, label }) => (
              <Checkbox key={value} label={label} value={value} />
            ))}
          </Stack>
        </Checkbox.Group>
        <Button
          disabled={scopes.length === 0}
          loading={create.isPending}
          type="submit"
          w="fit-content"
        >{t`Make a token`}</Button>
      </Stack>
    </form>
  );
}

function ShownOnce({ name, token }: { name: string; token: string }) {
  return (
    <Alert color="green" role="status" title={t`Copy ${name} now: it is not shown again`}>
      <Command label={t`Copy the token`} text={token} />
    </Alert>
  );
}
