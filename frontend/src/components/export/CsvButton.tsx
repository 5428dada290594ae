import { t } from "@lingui/core/macro";
import { Button } from "@mantine/core";
import type { ExportSource } from "./ExportButton";
import { saveCsv } from "./save";

/** Saves a table as CSV with one click. The export menu of a table has the other formats. */
export function CsvButton({ name, table }: Pick<ExportSource, "name" | "table">) {
  return (
    <Button
      onClick={() => saveCsv(name, table())}
      size="xs"
      title={t`All values, in base units`}
      variant="default"
    >{t`CSV`}</Button>
  );
}
