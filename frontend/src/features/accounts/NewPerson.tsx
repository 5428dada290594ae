import { t } from "@lingui/core/macro";
import { Button, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useClusters } from "@/components/Origin";
import { ErrorNotice } from "@/components/Page";
import { submitted } from "@/components/submitted";
import { createUser } from "./queries";
import { RoleFields } from "./RoleFields";
import { grantsOf, usualRoles } from "./roles";

interface NewPersonProps {
  readonly onAdded: (userId: number, name: string) => void;
}

export default function NewPerson({ onAdded }: NewPersonProps) {
  const create = useMutation(createUser);
  const ownClusters = useClusters().filter(({ origin }) => origin === "own");
  const [roles, setRoles] = useState(usualRoles(ownClusters));
  const submit = submitted((text) =>
    create.mutate(
      { name: text("name"), roles: grantsOf(roles) },
      { onSuccess: ({ id, name }) => onAdded(id, name) },
    ),
  );
  return (
    <form aria-label={t`New person`} onSubmit={submit}>
      <Stack gap="sm" maw={640}>
        {create.error && <ErrorNotice error={create.error} />}
        <TextInput
          description={t`Used to sign in. Letters, digits, dots, dashes and underscores.`}
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
        >{t`Add and create sign-in link`}</Button>
      </Stack>
    </form>
  );
}
