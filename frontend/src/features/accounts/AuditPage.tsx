/** Who changed what, found by any of it, and all of what was found as a file. */

import { t } from "@lingui/core/macro";
import { Button, Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Icon } from "@/components/Icon";
import { Loaded, Page, Section, ShowMore } from "@/components/Page";
import { AuditFilters } from "./AuditFilters";
import { AuditTable } from "./AuditTable";
import { type AuditView, exportAddress, listAddress } from "./audit";
import { auditQuery } from "./auditQueries";
import type { NamedCluster } from "./roles";
import { SettingsTabs } from "./SettingsTabs";

interface AuditPageProps {
  readonly view: AuditView;
  readonly clusters: readonly NamedCluster[];
  readonly onView: (change: AuditView) => void;
}

export function AuditPage({ view, clusters, onView }: AuditPageProps) {
  const entries = useInfiniteQuery(auditQuery(view));
  return (
    <Page title={t`Audit`} trail={t`Settings`}>
      <SettingsTabs />
      <Section
        actions={<Exports view={view} />}
        description={t`Every change: who made it, to what, from where, and what was before and after. Nothing here is ever changed.`}
        title={t`Changes`}
      >
        <Stack>
          <AuditFilters clusters={clusters} onView={onView} view={view} />
          <Loaded empty={t`Nothing was done that the filters let through.`} lines={8} query={entries}>
            {(rows) => <AuditTable clusters={clusters} entries={rows} path={listAddress(view)} />}
          </Loaded>
          <ShowMore query={entries} />
        </Stack>
      </Section>
    </Page>
  );
}

/** All that the filters let through, not only what is shown. */
function Exports({ view }: { view: AuditView }) {
  return (
    <>
      {(["csv", "jsonl"] as const).map((format) => (
        <Button
          component="a"
          download={`audit.${format}`}
          href={exportAddress(view, format)}
          key={format}
          leftSection={<Icon name="download" size={14} />}
          size="compact-sm"
          variant="default"
        >
          {format === "csv" ? t`All as CSV` : t`All as JSON Lines`}
        </Button>
      ))}
    </>
  );
}
