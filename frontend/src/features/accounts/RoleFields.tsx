import { t } from "@lingui/core/macro";
import { NativeSelect, SimpleGrid } from "@mantine/core";
import { useClusters } from "@/components/Origin";
import { type Grant, ROLES, type Role, withRole } from "./roles";

interface RoleFieldsProps {
  readonly roles: readonly Grant[];
  readonly onRoles: (roles: Grant[]) => void;
}

export function RoleFields({ roles, onRoles }: RoleFieldsProps) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
      <RoleSelect
        label={t`All clusters, including future ones`}
        onRole={(role) => onRoles(withRole(roles, null, role))}
        value={roleIn(roles, null)}
      />
      {useClusters().map(({ id, name }) => (
        <RoleSelect
          key={id}
          label={t`In ${name}`}
          onRole={(role) => onRoles(withRole(roles, id, role))}
          value={roleIn(roles, id)}
        />
      ))}
    </SimpleGrid>
  );
}

interface RoleSelectProps {
  readonly label: string;
  readonly value: Role | "";
  readonly onRole: (role: Role | "") => void;
}

function RoleSelect({ label, value, onRole }: RoleSelectProps) {
  return (
    <NativeSelect
      data={[{ value: "", label: t`no role` }, ...ROLES]}
      label={label}
      onChange={({ currentTarget }) =>
        onRole(ROLES.find((role) => role.value === currentTarget.value)?.value ?? "")
      }
      size="xs"
      value={value}
    />
  );
}

function roleIn(roles: readonly Grant[], clusterId: number | null): Role | "" {
  return roles.find((grant) => grant.cluster_id === clusterId)?.role ?? "";
}
