import { t } from "@lingui/core/macro";
import { Kbd, Stack } from "@mantine/core";
import { Dialog } from "@/components/Dialog";
import { DocsLink, TextLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { PLACES_BY_KEY } from "./keys";

const ACTIONS = [
  ["?", t`Show this help`],
  [
    t`Ctrl K or /`,
    t`Command palette: find nodes, targets, campaigns, series, runs and pages, or run an action`,
  ],
  ["n", t`New campaign`],
  ["j, k", t`Next and previous table row; Enter opens the row`],
  [t`Esc`, t`Close the dialog or menu`],
] as const;

export default function KeysModal({ onClose }: { onClose: () => void }) {
  const rows = [
    ...ACTIONS,
    ...[...PLACES_BY_KEY].map(([key, { label }]) => [t`g then ${key}`, label] as const),
  ];
  return (
    <Dialog onClose={onClose} title={t`Keyboard shortcuts`}>
      <Stack gap="sm">
        <table aria-label={t`Shortcuts`} className="iotide-table">
          <tbody>
            {rows.map(([keys, action]) => (
              <tr key={keys}>
                <th scope="row">
                  <Kbd>{keys}</Kbd>
                </th>
                <td className="iotide-wrap">{action}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <Hint>
          {t`Shortcuts are off while you type in a field.`}{" "}
          <TextLink onClick={onClose} to="/glossary">{t`Glossary of all words`}</TextLink>
          {" · "}
          <DocsLink>{t`Documentation`}</DocsLink>
        </Hint>
      </Stack>
    </Dialog>
  );
}
