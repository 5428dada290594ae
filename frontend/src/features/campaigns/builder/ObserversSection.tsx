import { t } from "@lingui/core/macro";
import type { Node } from "@/api/types";
import { Section } from "@/components/Page";
import type { Draft } from "./draft";
import { PickList } from "./PickList";

interface ObserversSectionProps {
  readonly draft: Draft;
  readonly nodes: readonly Node[];
  readonly onChange: (draft: Draft) => void;
}

/** Offers nodes without load, such as storage servers, and those that an earlier plan monitored. */
export function ObserversSection({ draft, nodes, onChange }: ObserversSectionProps) {
  const others = nodes.filter(({ name }) => !draft.nodes.includes(name) || draft.observers.includes(name));
  if (others.length === 0 || draft.nodes.length === 0) return null;
  return (
    <Section
      description={t`CPU, disk and network are sampled during the runs, without locking these nodes.`}
      title={t`Monitored nodes`}
    >
      <PickList
        empty={null}
        items={others.map(({ name, role, state }) => ({ name, detail: `${role}, ${state}` }))}
        label={t`Also monitor (no load)`}
        onPick={(picked) => onChange({ ...draft, observers: picked })}
        picked={draft.observers}
      />
    </Section>
  );
}
