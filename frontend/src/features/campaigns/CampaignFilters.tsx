import { t } from "@lingui/core/macro";
import { Button, Group, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { CAMPAIGN_STATES } from "@/api/states";
import { ChoiceFilter, TextFilter } from "@/components/filters";
import { Icon } from "@/components/Icon";
import { useClusters } from "@/components/Origin";
import { hasFilter, isGrouped, type ListView, NO_FILTER } from "./listView";
import { schedulesQuery } from "./schedules/queries";

interface CampaignFiltersProps {
  readonly view: ListView;
  /** Of the loaded campaigns. */
  readonly owners: readonly string[];
  readonly onView: (change: ListView) => void;
}

export function CampaignFilters({ view, owners, onView }: CampaignFiltersProps) {
  return (
    <Group align="center" gap="xs">
      <TextFilter
        label={t`Search campaigns`}
        leftSection={<Icon name="search" size={14} />}
        onText={(text) => onView({ text })}
        placeholder={t`Name`}
        value={view.text}
        width={200}
      />
      <ClusterFilter onView={onView} view={view} />
      <ChoiceFilter
        all={t`All states`}
        choices={CAMPAIGN_STATES}
        label={t`State`}
        onChoose={(state) => onView({ state })}
        value={view.state}
      />
      <ScheduleFilter onView={onView} view={view} />
      {(owners.length > 0 || view.owner !== undefined) && (
        <ChoiceFilter
          all={t`All owners`}
          choices={owners}
          label={t`Owner`}
          onChoose={(owner) => onView({ owner })}
          value={view.owner}
        />
      )}
      <OrderChoice onView={onView} view={view} />
      <Switch
        checked={isGrouped(view)}
        disabled={view.state !== undefined || view.schedule !== undefined}
        label={t`Group by schedule`}
        onChange={({ currentTarget }) => onView({ flat: currentTarget.checked ? undefined : true })}
        size="xs"
      />
      {hasFilter(view) && (
        <Button onClick={() => onView(NO_FILTER)} size="xs" variant="default">{t`Clear filters`}</Button>
      )}
    </Group>
  );
}

type ChoiceProps = Pick<CampaignFiltersProps, "view" | "onView">;

function ClusterFilter({ view, onView }: ChoiceProps) {
  const clusters = useClusters();
  if (clusters.length < 2 && view.cluster === undefined) return null;
  return (
    <ChoiceFilter
      all={t`All clusters`}
      choices={clusters.map(({ id, name }) => ({ value: id, label: name }))}
      label={t`Cluster`}
      onChoose={(cluster) => onView({ cluster, schedule: undefined })}
      value={view.cluster}
    />
  );
}

function OrderChoice({ view, onView }: ChoiceProps) {
  return (
    <ChoiceFilter
      all={t`Newest first`}
      choices={[
        { value: "oldest" as const, label: t`Oldest first` },
        { value: "name" as const, label: t`By name` },
      ]}
      label={t`Order`}
      onChoose={(sort) => onView({ sort })}
      value={view.sort === "newest" ? undefined : view.sort}
    />
  );
}

function ScheduleFilter({ view, onView }: ChoiceProps) {
  const { data: schedules = [] } = useQuery(schedulesQuery);
  const offered = schedules.filter(({ cluster_id }) => [cluster_id, undefined].includes(view.cluster));
  if (offered.length === 0 && view.schedule === undefined) return null;
  return (
    <ChoiceFilter
      all={t`All schedules`}
      choices={offered.map(({ id, name }) => ({ value: id, label: name }))}
      label={t`Schedule`}
      onChoose={(schedule) => onView({ schedule })}
      value={view.schedule}
    />
  );
}
