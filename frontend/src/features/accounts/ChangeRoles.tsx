import { t } from "@lingui/core/macro";
import { Button, Group, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { User } from "@/api/types";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/Page";
import { changeRoles } from "./queries";
import { RoleFields } from "./RoleFields";
import { type ChosenRole, grantsOf } from "./roles";

interface ChangeRolesProps {
  readonly user: User;
  readonly onClose: () => void;
}

export default function ChangeRoles({ user, onClose }: ChangeRolesProps) {
  const change = useMutation(changeRoles);
  const [roles, setRoles] = useState<ChosenRole[]>(user.roles);
  const body = { roles: grantsOf(roles), disabled: user.disabled_at !== null };
  return (
    <Dialog onClose={onClose} size="lg" title={t`Roles of ${user.name}`}>
      <Stack>
        {change.error && <ErrorNotice error={change.error} />}
        <RoleFields onRoles={setRoles} roles={roles} />
        <Group justify="flex-end">
          <Button onClick={onClose} variant="default">{t`Cancel`}</Button>
          <Button
            loading={change.isPending}
            onClick={() => change.mutate({ userId: user.id, body }, { onSuccess: onClose })}
          >{t`Change roles`}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
