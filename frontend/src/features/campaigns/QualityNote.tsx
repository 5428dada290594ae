/** Quality of the results in words, once, each with its remedy. The answer card has what concerns all of them. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert } from "@mantine/core";
import { flagTitle, rankOf, remedyOf } from "@/components/flagWords";
import { formatValue } from "@/lib/units";
import { type QualityLine, qualityOf, type ResultGroup } from "./results";

/** Flag of values whose runs scatter. */
const SCATTERS = "CV";

interface QualityNoteProps {
  readonly groups: readonly ResultGroup[];
  /** Codes of flags that the answer card states. */
  readonly stated: readonly string[];
}

export function QualityNote({ groups, stated }: QualityNoteProps) {
  const lines = qualityOf(groups).filter(({ code }) => !stated.includes(code));
  if (lines.length === 0) return null;
  const valueCount = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  return (
    <Alert
      color={lines.some(({ code }) => rankOf(code) <= 2) ? "orange" : "gray"}
      title={t`Quality of the results`}
    >
      {lines.map((line) => (
        <div key={line.code}>
          <Trans>
            <b>{flagTitle(line.code)}</b>:{" "}
            {line.isOnAll ? t`all values` : t`${line.valueCount} of ${valueCount} values`}
            {spreadWords(line)}. {remedyOf(line.code)}
          </Trans>
        </div>
      ))}
    </Alert>
  );
}

/** Empty for a flag that is not about the spread. */
function spreadWords({ code, spread }: QualityLine): string {
  if (code !== SCATTERS || spread === null) return "";
  const [least, most] = [formatValue(spread[0], "ratio"), formatValue(spread[1], "ratio")];
  return least === most ? t`, by ${least}` : t`, by ${least} to ${most}`;
}
