/** A person in the list, and what an administrator can do about them. */

import { t } from "@lingui/core/macro";
import { Badge, Button, Group, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { User } from "@/api/types";
import { ConfirmButton } from "@/components/ConfirmButton";
import { Row } from "@/components/ScrollTable";
import { When } from "@/components/values";
import { whatFollows } from "./leaving";
import { setDisabled } from "./peopleQueries";
import { type NamedCluster, rolesInWords } from "./roles";

const ChangeRoles = lazy(() => import("./ChangeRoles"));

interface PersonRowProps {
  readonly user: User;
  readonly clusters: readonly NamedCluster[];
  readonly isSelf: boolean;
  /** A sign-in link for them is being made. */
  readonly isLinking: boolean;
  readonly onLink: (userId: number, name: string) => void;
}

export function PersonRow({ user, clusters, isSelf, isLinking, onLink }: PersonRowProps) {
  return (
    <Row>
      <td>
        {user.name} {user.disabled_at !== null && <Badge color="gray" tt="uppercase">{t`disabled`}</Badge>}
      </td>
      {rolesInWords(user.roles, clusters)}
      <When at={user.last_seen_at} />
      {user.session_count}
      {user.token_count}
      {user.schedule_count}
      {isSelf ? (
        <Text c="dimmed" component="span" size="sm">{t`you`}</Text>
      ) : (
        <PersonActions clusters={clusters} isLinking={isLinking} onLink={onLink} user={user} />
      )}
    </Row>
  );
}

function PersonActions({ user, clusters, isLinking, onLink }: Omit<PersonRowProps, "isSelf">) {
  const [isChanging, setIsChanging] = useState(false);
  const change = useMutation(setDisabled);
  const { id, name, roles } = user;
  const isDisabled = user.disabled_at !== null;
  const disable = (disabled: boolean) => change.mutate({ userId: id, body: { roles, disabled } });
  return (
    <Group gap={6} wrap="nowrap">
      <Button
        aria-label={t`Change roles of ${name}`}
        onClick={() => setIsChanging(true)}
        size="compact-xs"
        variant="default"
      >{t`Roles`}</Button>
      {isDisabled ? (
        <Button
          aria-label={t`Enable ${name}`}
          loading={change.isPending}
          onClick={() => disable(false)}
          size="compact-xs"
          variant="default"
        >{t`Enable`}</Button>
      ) : (
        <>
          <Button
            aria-label={t`Make a sign-in link for ${name}`}
            loading={isLinking}
            onClick={() => onLink(id, name)}
            size="compact-xs"
            variant="default"
          >{t`Link`}</Button>
          <ConfirmButton
            aria-label={t`Disable ${name}`}
            loading={change.isPending}
            onConfirm={() => disable(true)}
            question={{
              title: t`Disable ${name}?`,
              body: whatFollows(user),
              yes: t`Disable`,
              no: t`Keep them`,
            }}
            size="compact-xs"
          >{t`Disable`}</ConfirmButton>
        </>
      )}
      <Suspense>
        {isChanging && <ChangeRoles clusters={clusters} onClose={() => setIsChanging(false)} user={user} />}
      </Suspense>
    </Group>
  );
}
