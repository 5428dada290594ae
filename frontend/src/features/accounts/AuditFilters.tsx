/** Which entries of the audit are listed. */

import { t } from "@lingui/core/macro";
import { Button, Group } from "@mantine/core";
import { ChoiceFilter, DayFilter, TextFilter } from "@/components/filters";
import type { AuditView } from "./audit";
import { type NamedCluster, placeName } from "./roles";

interface AuditFiltersProps {
  readonly view: AuditView;
  readonly clusters: readonly NamedCluster[];
  readonly onView: (change: AuditView) => void;
}

const SUBJECTS = [
  ...["alert", "alert_rule", "blackout", "campaign", "channel", "cluster", "event", "join_token", "node"],
  ...["run", "schedule", "series", "server", "target", "template", "token", "user", "view"],
];

/** A name of the API, in no language. */
const AN_ACTION = "target_changed";

export function AuditFilters({ view, clusters, onView }: AuditFiltersProps) {
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

function SubjectFilter({ view, onView }: Pick<AuditFiltersProps, "view" | "onView">) {
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
