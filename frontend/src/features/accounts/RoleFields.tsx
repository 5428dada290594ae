/** Roles of a user, one line each: a cluster from a searchable list, and the role there. */

import { t } from "@lingui/core/macro";
import { Group, NativeSelect, Select, Stack } from "@mantine/core";
import { AddButton } from "@/components/buttons";
import { RowButton } from "@/components/looks";
import { useClusters } from "@/components/Origin";
import { ALL_CLUSTERS, type ChosenRole, ROLES, withoutRole, withRole } from "./roles";

interface RoleFieldsProps {
  readonly roles: readonly ChosenRole[];
  readonly onRoles: (roles: ChosenRole[]) => void;
}

export function RoleFields({ roles, onRoles }: RoleFieldsProps) {
  const isChoosing = roles.some(({ cluster_id: id }) => id === undefined);
  return (
    <Stack gap="xs">
      {roles.map((chosen, index) => (
        <RoleLine
          chosen={chosen}
          // biome-ignore lint/suspicious/noArrayIndexKey: a line keeps its place while its cluster changes
          key={index}
          onChange={(changed) => onRoles(withRole(roles, index, changed))}
          onRemove={() => onRoles(withoutRole(roles, index))}
          taken={roles.flatMap(({ cluster_id: id }, other) => (other === index ? [] : [id]))}
        />
      ))}
      {!isChoosing && (
        <AddButton
          isOpen={false}
          onToggle={() => onRoles([...roles, { cluster_id: undefined, role: "viewer" }])}
        >{t`Add role`}</AddButton>
      )}
    </Stack>
  );
}

interface RoleLineProps {
  readonly chosen: ChosenRole;
  /** Clusters of the other lines. */
  readonly taken: readonly ChosenRole["cluster_id"][];
  readonly onChange: (chosen: ChosenRole) => void;
  readonly onRemove: () => void;
}

function RoleLine({ chosen, taken, onChange, onRemove }: RoleLineProps) {
  const { cluster_id: clusterId, role } = chosen;
  const clusters = useClusters().map(({ id, name }) => ({ value: String(id), label: name }));
  const places = [...clusters, { value: ALL_CLUSTERS, label: t`All clusters, including future ones` }];
  const used = taken.map(choiceOf);
  const place = places.find(({ value }) => value === choiceOf(clusterId))?.label ?? t`the new cluster`;
  return (
    <Group align="flex-end" gap="xs">
      <Select
        aria-label={t`Cluster of the role`}
        data={places.filter(({ value }) => !used.includes(value))}
        flex={1}
        miw={220}
        nothingFoundMessage={t`No matching cluster.`}
        onChange={(value) => value !== null && onChange({ role, cluster_id: clusterIn(value) })}
        placeholder={t`Choose a cluster`}
        required
        searchable
        value={choiceOf(clusterId)}
      />
      <NativeSelect
        aria-label={t`Role in ${place}`}
        data={[...ROLES]}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...chosen, role: ROLES.find((known) => known.value === value)?.value ?? role })
        }
        value={role}
      />
      <RowButton aria-label={t`Remove the role in ${place}`} onClick={onRemove}>{t`Remove`}</RowButton>
    </Group>
  );
}

function choiceOf(clusterId: ChosenRole["cluster_id"]): string | null {
  if (clusterId === undefined) return null;
  return clusterId === null ? ALL_CLUSTERS : String(clusterId);
}

function clusterIn(value: string): number | null {
  return value === ALL_CLUSTERS ? null : Number(value);
}
