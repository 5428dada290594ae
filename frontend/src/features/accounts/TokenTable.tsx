/** API tokens with what they may do, when and from where they were used, and when they end. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { Token } from "@/api/types";
import { ConfirmButton } from "@/components/ConfirmButton";
import { ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/values";
import { revokeToken } from "./queries";
import { tokenEnd } from "./tokenEnd";

interface TokenTableProps {
  readonly tokens: readonly Token[];
  readonly label: string;
  /** They belong to several people, whose names are shown. */
  readonly isOfSeveral?: boolean;
}

export function TokenTable({ tokens, label, isOfSeveral = false }: TokenTableProps) {
  const owner = isOfSeveral ? [t`Person`] : [];
  return (
    <ScrollTable
      head={[...owner, t`Name`, t`Scopes`, t`Made`, t`Last used`, t`From`, t`Ends`, ""]}
      label={label}
    >
      {tokens.map((token) => (
        <tr key={token.id}>
          {isOfSeveral && <td>{token.user_name}</td>}
          <td>{token.name}</td>
          <td>{token.scopes.join(", ")}</td>
          <td>
            <When at={token.created_at} />
          </td>
          <td>
            <When at={token.last_used_at} />
          </td>
          <td>{token.last_used_address ?? "–"}</td>
          <td>
            <End token={token} />
          </td>
          <td>
            <RevokeButton isOfSeveral={isOfSeveral} token={token} />
          </td>
        </tr>
      ))}
    </ScrollTable>
  );
}

function End({ token: { expires_at } }: { token: Token }) {
  const end = tokenEnd(expires_at, Date.now());
  if (expires_at === null) return <Text component="span" size="sm">{t`no end`}</Text>;
  return (
    <>
      <When at={expires_at} /> {end === "expired" && <Badge color="gray" tt="uppercase">{t`expired`}</Badge>}
      {end === "soon" && <Badge color="orange" tt="uppercase">{t`ends soon`}</Badge>}
    </>
  );
}

function RevokeButton({ token, isOfSeveral }: { token: Token; isOfSeveral: boolean }) {
  const revoke = useMutation(revokeToken);
  const { name, user_name } = token;
  return (
    <ConfirmButton
      aria-label={isOfSeveral ? t`Revoke ${name} of ${user_name}` : t`Revoke ${name}`}
      loading={revoke.isPending}
      onConfirm={() => revoke.mutate(token.id)}
      question={{
        title: isOfSeveral ? t`Revoke ${name} of ${user_name}?` : t`Revoke ${name}?`,
        body: (
          <Trans>
            Programs that use it are refused from then on; last use: <When at={token.last_used_at} />. This
            cannot be undone.
          </Trans>
        ),
        yes: t`Revoke`,
      }}
      size="compact-xs"
    >{t`Revoke`}</ConfirmButton>
  );
}
