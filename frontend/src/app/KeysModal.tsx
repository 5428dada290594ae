/** “?”: which keys do what. */

import { t } from "@lingui/core/macro";
import { Kbd, Stack } from "@mantine/core";
import { Dialog } from "@/components/Dialog";
import { Hint } from "@/components/looks";
import { PLACES_BY_KEY } from "./keys";

const DEEDS = [
  ["?", t`This help`],
  [t`Ctrl K or /`, t`Go to or do: pages, clusters, campaigns, targets, runs by number`],
  ["n", t`New campaign`],
  ["j, k", t`Next and previous row of a table; Enter opens it`],
  [t`Esc`, t`Close what is open`],
] as const;

export default function KeysModal({ onClose }: { onClose: () => void }) {
  const rows = [
    ...DEEDS,
    ...[...PLACES_BY_KEY].map(([key, { label }]) => [t`g then ${key}`, label] as const),
  ];
  return (
    <Dialog onClose={onClose} title={t`Keyboard`}>
      <Stack gap="sm">
        <table aria-label={t`Shortcuts`} className="iotide-table">
          <tbody>
            {rows.map(([keys, deed]) => (
              <tr key={keys}>
                <th scope="row">
                  <Kbd>{keys}</Kbd>
                </th>
                <td className="iotide-wrap">{deed}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <Hint>{t`While you type into a field, keys mean what they always do.`}</Hint>
      </Stack>
    </Dialog>
  );
}
