/** The inbox of alerts: what somebody has to deal with first, everything else by its filters. */

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

/** The part of the address that belongs to the inbox. */
export interface AlertsView {
  /** Undefined: those that somebody has to deal with. */
  readonly state?: AlertState | "all" | undefined;
  readonly owner?: string | undefined;
  readonly kind?: Alert["kind"] | undefined;
  /** Those that changed together, as a message names them: in whatever state they are by now. */
  readonly group?: number | undefined;
}

interface AlertsListProps {
  /** Undefined: all of them. */
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
      description={t`Changes that a rule covers, and stale series. A suspect is looked at again by runs of its own before anybody is told.`}
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
  return state === undefined ? t`To be dealt with` : t`Alerts`;
}

function statesOf({ state, group }: AlertsView): readonly AlertState[] | undefined {
  if (state === undefined) return group === undefined ? OPEN_ALERT_STATES : undefined;
  return state === "all" ? undefined : [state];
}

function whyNone({ state, owner, kind, group }: AlertsView): string {
  if (state || owner || kind || group) return t`There is no such alert.`;
  return t`Nothing is to be dealt with. Alerts are raised by rules, which are under Settings: each names the changes of which it tells.`;
}

function Filters({ view, onView }: Pick<AlertsListProps, "view" | "onView">) {
  const { name } = usePrincipal();
  return (
    <Group gap="sm">
      {view.group !== undefined && (
        <RowButton onClick={() => onView({ group: undefined })}>{t`Not this group alone`}</RowButton>
      )}
      <ChoiceFilter
        all={view.group === undefined ? t`To be dealt with` : t`Any state`}
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
          { value: "change", label: t`Only changes` },
          { value: "stale", label: t`Stale series` },
        ]}
        label={t`Kind`}
        onChoose={(kind) => onView({ kind })}
        value={view.kind}
      />
      <LoggedIn>
        <Switch
          checked={view.owner === name}
          label={t`Mine alone`}
          onChange={(event) => onView({ owner: event.currentTarget.checked ? name : undefined })}
          size="sm"
        />
      </LoggedIn>
    </Group>
  );
}
