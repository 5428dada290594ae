/** The menu of what may be done with a node or target. Each entry says in a line what it does. */

import { t } from "@lingui/core/macro";
import { Button, Menu, Text } from "@mantine/core";
import { type ReactNode, Suspense, useState } from "react";
import { Detail } from "./looks";

export interface ManageAction {
  readonly label: string;
  readonly description: string;
  /** Red: what it removes cannot be restored by another entry. */
  readonly isDestructive?: boolean;
  readonly isDisabled?: boolean;
  /** Asks first; without it `onChoose` is called at once. */
  readonly dialog?: (onClose: () => void) => ReactNode;
  readonly onChoose?: () => void;
}

export function ManageMenu({ actions }: { actions: readonly ManageAction[] }) {
  const [chosen, setChosen] = useState<ManageAction>();
  if (actions.length === 0) return null;
  return (
    <>
      <Menu position="bottom-end" width={340}>
        <Menu.Target>
          <Button size="xs" variant="default">{t`Manage`}</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {actions.map((action) => (
            <Menu.Item
              disabled={action.isDisabled ?? false}
              key={action.label}
              onClick={() => (action.dialog ? setChosen(action) : action.onChoose?.())}
              {...(action.isDestructive && { color: "red" })}
            >
              <Text fw={600} inherit>
                {action.label}
              </Text>
              <Detail>{action.description}</Detail>
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Suspense>{chosen?.dialog?.(() => setChosen(undefined))}</Suspense>
    </>
  );
}
