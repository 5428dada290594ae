/** Who changed what, found by any of it, and all of what was found as a file. */

import { t } from "@lingui/core/macro";
import { Button, Group, Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { ChoiceFilter, DayFilter, TextFilter } from "@/components/filters";
import { Icon } from "@/components/Icon";
import { useClusters } from "@/components/Origin";
import { Loaded, Page, Section, ShowMore } from "@/components/Page";
import { AuditTable } from "./AuditTable";
import { type AuditView, exportAddress, listAddress } from "./audit";
import { auditQuery } from "./queries";
import { placeName } from "./roles";
import { SettingsTabs } from "./SettingsTabs";

interface AuditPageProps {
  readonly view: AuditView;
  readonly onView: (change: AuditView) => void;
}

export function AuditPage({ view, onView }: AuditPageProps) {
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
          <AuditFilters onView={onView} view={view} />
          <Loaded empty={t`Nothing was done that the filters let through.`} lines={8} query={entries}>
            {(rows) => <AuditTable entries={rows} path={listAddress(view)} />}
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

const SUBJECTS = [
  ...["alert", "alert_rule", "blackout", "campaign", "channel", "cluster", "event", "join_token", "node"],
  ...["run", "schedule", "series", "server", "target", "template", "token", "user", "view"],
];

/** A name of the API, in no language. */
const AN_ACTION = "target_changed";

function AuditFilters({ view, onView }: AuditPageProps) {
  const clusters = useClusters();
  const { cluster } = view;
  const isKnown = cluster === undefined || clusters.some(({ id }) => id === cluster);
  const shownClusters = isKnown
    ? clusters
    : [...clusters, { id: cluster, name: placeName(cluster, clusters) }];
  return (
    <Group align="flex-end" gap="xs">
      <TextFilter
        label={t`Words`}
        onText={(text) => onView({ text })}
        placeholder={t`Words in any part`}
        value={view.text}
        width={220}
      />
      <TextFilter
        label={t`Who`}
        onText={(actor) => onView({ actor })}
        placeholder={t`Who`}
        value={view.actor}
      />
      <TextFilter
        label={t`Action`}
        onText={(action) => onView({ action })}
        placeholder={AN_ACTION}
        value={view.action}
      />
      <SubjectFilter onView={onView} view={view} />
      <ChoiceFilter
        all={t`All clusters`}
        choices={shownClusters.map(({ id, name }) => ({ value: id, label: name }))}
        label={t`Cluster`}
        onChoose={(chosen) => onView({ cluster: chosen })}
        value={cluster}
      />
      <TextFilter
        label={t`Address`}
        onText={(address) => onView({ address })}
        placeholder={t`From where`}
        value={view.address}
      />
      <DayFilter label={t`From`} onDay={(from) => onView({ from })} value={view.from} />
      <DayFilter label={t`To`} onDay={(to) => onView({ to })} value={view.to} />
      {Object.values(view).some((value) => value !== undefined) && (
        <Button onClick={() => onView(cleared(view))} size="xs" variant="default">{t`Clear filters`}</Button>
      )}
    </Group>
  );
}

/** Every filter undefined, so that it leaves the address. */
function cleared(view: AuditView): AuditView {
  return Object.fromEntries(Object.keys(view).map((name) => [name, undefined]));
}

function SubjectFilter({ view, onView }: AuditPageProps) {
  const kinds = view.kind === undefined || SUBJECTS.includes(view.kind) ? SUBJECTS : [view.kind, ...SUBJECTS];
  return (
    <>
      <ChoiceFilter
        all={t`All subjects`}
        choices={kinds.map((kind) => ({ value: kind, label: kind.replaceAll("_", " ") }))}
        label={t`Subject`}
        onChoose={(kind) => onView({ kind, id: undefined })}
        value={view.kind}
      />
      {view.id !== undefined && (
        <Button onClick={() => onView({ id: undefined })} size="xs" variant="light">
          {t`only number ${view.id} ×`}
        </Button>
      )}
    </>
  );
}
