import { t } from "@lingui/core/macro";
import { Group, Stack, Switch } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { ALERT_STATES, type AlertState, OPEN_ALERT_STATES } from "@/api/states";
import type { Alert } from "@/api/types";
import { ChoiceFilter } from "@/components/filters";
import { RowButton } from "@/components/looks";
import { Loaded, Section, ShowMore } from "@/components/Page";
import { LoggedIn, usePrincipal } from "@/components/session";
import { AlertTable } from "./AlertTable";
import { alertsQuery } from "./queries";

export interface AlertsView {
  /** Undefined: open alerts. */
  readonly state?: AlertState | "all" | undefined;
  readonly owner?: string | undefined;
  readonly kind?: Alert["kind"] | undefined;
  /** A group of alerts that changed together, in any state. */
  readonly group?: number | undefined;
}

interface AlertsListProps {
  /** Undefined: all clusters. */
  readonly clusterId: number | undefined;
  readonly view: AlertsView;
  readonly onView: (change: AlertsView) => void;
}

export function AlertsList({ clusterId, view, onView }: AlertsListProps) {
  const { state, owner, kind, group } = view;
  const alerts = useInfiniteQuery(alertsQuery({ clusterId, states: statesOf(view), owner, kind, group }));
  return (
    <Section
      actions={<Filters onView={onView} view={view} />}
      description={t`Changes covered by an alert rule, and stale series. A suspected change is confirmed by extra runs before a notification is sent.`}
      title={titleOf(state, group)}
    >
      <Loaded empty={whyNone(view)} lines={8} query={alerts}>
        {(rows) => (
          <Stack>
            <AlertTable alerts={rows} isOfSeveral={clusterId === undefined} label={t`Alerts`} />
            <ShowMore query={alerts} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function titleOf(state: AlertsView["state"], group: number | undefined): string {
  if (group !== undefined) return t`Changed together`;
  return state === undefined ? t`Open alerts` : t`Alerts`;
}

function statesOf({ state, group }: AlertsView): readonly AlertState[] | undefined {
  if (state === undefined) return group === undefined ? OPEN_ALERT_STATES : undefined;
  return state === "all" ? undefined : [state];
}

function whyNone({ state, owner, kind, group }: AlertsView): string {
  if (state || owner || kind || group) return t`No alerts match.`;
  return t`No open alerts. Create alert rules under Settings to be notified about regressions.`;
}

function Filters({ view, onView }: Pick<AlertsListProps, "view" | "onView">) {
  const { name } = usePrincipal();
  return (
    <Group gap="sm">
      {view.group !== undefined && (
        <RowButton onClick={() => onView({ group: undefined })}>{t`Show all groups`}</RowButton>
      )}
      <ChoiceFilter
        all={view.group === undefined ? t`Open` : t`Any state`}
        choices={[
          ...ALERT_STATES.map((state) => ({ value: state, label: state.replaceAll("_", " ") })),
          { value: "all", label: t`All states` },
        ]}
        label={t`State`}
        onChoose={(state) => onView({ state })}
        value={view.state}
      />
      <ChoiceFilter
        all={t`Changes and stale series`}
        choices={[
          { value: "change", label: t`Changes only` },
          { value: "stale", label: t`Stale series only` },
        ]}
        label={t`Kind`}
        onChoose={(kind) => onView({ kind })}
        value={view.kind}
      />
      <LoggedIn>
        <Switch
          checked={view.owner === name}
          label={t`Assigned to me`}
          onChange={(event) => onView({ owner: event.currentTarget.checked ? name : undefined })}
          size="sm"
        />
      </LoggedIn>
    </Group>
  );
}
