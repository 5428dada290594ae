/** The form that adds a person, with their roles. */

import { t } from "@lingui/core/macro";
import { Button, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ErrorNotice } from "@/components/Page";
import { createUser } from "./queries";
import { RoleFields } from "./RoleFields";
import type { Grant } from "./roles";

interface NewPersonProps {
  readonly onAdded: (userId: number, name: string) => void;
}

export default function NewPerson({ onAdded }: NewPersonProps) {
  const create = useMutation(createUser);
  const [roles, setRoles] = useState<Grant[]>([{ cluster_id: null, role: "viewer" }]);
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("name"));
    create.mutate({ name, roles }, { onSuccess: (user) => onAdded(user.id, user.name) });
  }
  return (
    <form aria-label={t`New person`} onSubmit={submit}>
      <Stack gap="sm" maw={640}>
        {create.error && <ErrorNotice error={create.error} />}
        <TextInput
          description={t`They log in with it: letters, digits, dots, dashes and underscores.`}
          label={t`Name`}
          maxLength={63}
          name="name"
          required
        />
        <RoleFields onRoles={setRoles} roles={roles} />
        <Button
          loading={create.isPending}
          type="submit"
          w="fit-content"
        >{t`Add and make a sign-in link`}</Button>
      </Stack>
    </form>
  );
}
