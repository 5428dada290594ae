/** Templates of a cluster: each starts a campaign. Operators can rename and delete them. */

import { t } from "@lingui/core/macro";
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { CampaignPlan, ListedTemplate } from "@/api/types";
import { ConfirmMutation } from "@/components/buttons";
import { ButtonLink } from "@/components/links";
import { Detail, Hint } from "@/components/looks";
import { ErrorNotice, Loaded, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { When } from "@/components/values";
import { changeTemplate, createTemplate, removeTemplate, templatesQuery } from "./queries";

interface TemplatesSectionProps {
  readonly clusterId: number;
  /** The template that the draft started from. */
  readonly usedId: number | undefined;
}

export function TemplatesSection({ clusterId, usedId }: TemplatesSectionProps) {
  const templates = useQuery(templatesQuery(clusterId));
  const [isManaging, setIsManaging] = useState(false);
  const mayManage = useMay("operator", clusterId);
  const count = templates.data?.length ?? 0;
  return (
    <Section
      actions={
        mayManage &&
        count > 0 && (
          <Button
            aria-expanded={isManaging}
            onClick={() => setIsManaging(!isManaging)}
            size="compact-sm"
            variant="subtle"
          >
            {isManaging ? t`Done` : t`Rename or delete`}
          </Button>
        )
      }
      title={t`Start from a template`}
    >
      <Loaded empty={<NoTemplate />} lines={1} query={templates}>
        {(rows) =>
          isManaging ? (
            <ScrollTable head={[t`Template`, t`Changed`, ""]} label={t`Templates`}>
              {rows.map((template) => (
                <ManagedRow key={template.id} template={template} />
              ))}
            </ScrollTable>
          ) : (
            <Group gap="xs">
              {rows.map((template) => (
                <UseLink isUsed={template.id === usedId} key={template.id} template={template} />
              ))}
            </Group>
          )
        }
      </Loaded>
    </Section>
  );
}

function NoTemplate() {
  return <Hint>{t`No templates yet. Fill in the form and choose “Save as template” to reuse it.`}</Hint>;
}

/** A link, so that it can be shared. Each template has a draft of its own. */
function UseLink({
  template: { id, name, cluster_id, plan },
  isUsed,
}: {
  template: ListedTemplate;
  isUsed: boolean;
}) {
  return (
    <ButtonLink
      aria-current={isUsed ? "true" : undefined}
      search={{ cluster: cluster_id, template: id }}
      size="xs"
      title={plan?.workloads.map(({ workload }) => workload).join(", ")}
      to="/campaigns/new"
      variant={isUsed ? "filled" : "default"}
    >
      {name}
    </ButtonLink>
  );
}

function ManagedRow({ template }: { template: ListedTemplate }) {
  return (
    <Row>
      <RenameForm key={template.name} template={template} />
      <td>
        <When at={template.changed_at} />
        <Detail>{template.owner ?? t`by a deleted user`}</Detail>
      </td>
      <ConfirmMutation
        aria-label={t`Delete template ${template.name}`}
        title={t`Delete template ${template.name}?`}
        body={t`Campaigns and schedules created from it are not affected.`}
        yes={t`Delete template`}
        size="compact-xs"
        mutation={removeTemplate}
        variables={template.id}
      >{t`Delete`}</ConfirmMutation>
    </Row>
  );
}

function RenameForm({ template }: { template: ListedTemplate }) {
  const rename = useMutation(changeTemplate);
  const [name, setName] = useState(template.name);
  function submit(event: FormEvent): void {
    event.preventDefault();
    rename.mutate({ templateId: template.id, body: { name: name.trim() } });
  }
  return (
    <form onSubmit={submit}>
      <Stack gap={4}>
        <Group gap="xs" wrap="nowrap">
          <TextInput
            aria-label={t`Name of template ${template.name}`}
            miw={140}
            onChange={(event) => setName(event.currentTarget.value)}
            size="xs"
            value={name}
          />
          <Button
            disabled={name.trim() === "" || name.trim() === template.name}
            flex="none"
            loading={rename.isPending}
            size="xs"
            type="submit"
            variant="default"
          >{t`Rename`}</Button>
        </Group>
        {rename.error && <ErrorNotice error={rename.error} />}
      </Stack>
    </form>
  );
}

interface SaveTemplateProps {
  readonly clusterId: number;
  /** Undefined while the draft is incomplete. */
  readonly plan: CampaignPlan | undefined;
}

/** Saves the plan as a template under a new or an existing name. */
export function SaveTemplate({ clusterId, plan }: SaveTemplateProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [saved, setSaved] = useState<string>();
  if (!useMay("operator", clusterId)) return null;
  if (isOpen && plan)
    return (
      <SaveForm
        clusterId={clusterId}
        onDone={(name) => {
          setIsOpen(false);
          setSaved(name);
        }}
        plan={plan}
      />
    );
  return (
    <Group gap="xs">
      <Button
        disabled={!plan}
        onClick={() => setIsOpen(true)}
        size="xs"
        variant="default"
      >{t`Save as template`}</Button>
      <Hint role="status">{saved && t`Saved as ${saved}.`}</Hint>
    </Group>
  );
}

interface SaveFormProps {
  readonly clusterId: number;
  readonly plan: CampaignPlan;
  /** Gets the name of the saved template; undefined if cancelled. */
  readonly onDone: (name: string | undefined) => void;
}

function SaveForm({ clusterId, plan, onDone }: SaveFormProps) {
  const { data: templates = [] } = useQuery(templatesQuery(clusterId));
  const create = useMutation(createTemplate);
  const change = useMutation(changeTemplate);
  const [entered, setEntered] = useState(plan.name);
  const name = entered.trim();
  const same = templates.find((template) => template.name === name);
  const error = create.error ?? change.error;
  function submit(event: FormEvent): void {
    event.preventDefault();
    const onSuccess = () => onDone(name);
    if (same) change.mutate({ templateId: same.id, body: { plan } }, { onSuccess });
    else create.mutate({ name, plan }, { onSuccess });
  }
  return (
    <form aria-label={t`Save as template`} onSubmit={submit}>
      <Stack gap="xs">
        <TextInput
          description={
            same
              ? t`A template with this name exists. Its plan is replaced.`
              : t`Available to all users who plan in this cluster.`
          }
          label={t`Template name`}
          onChange={(event) => setEntered(event.currentTarget.value)}
          size="sm"
          value={entered}
        />
        {error && <ErrorNotice error={error} />}
        <Group gap="xs">
          <Button
            disabled={name === ""}
            loading={create.isPending || change.isPending}
            size="xs"
            type="submit"
          >
            {same ? t`Replace template` : t`Save template`}
          </Button>
          <Button onClick={() => onDone(undefined)} size="xs" variant="default">{t`Cancel`}</Button>
        </Group>
      </Stack>
    </form>
  );
}
