/** Keeps the plan as a template of its cluster, under a new name or in the place of one. */

import { t } from "@lingui/core/macro";
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { CampaignPlan } from "@/api/types";
import { ErrorNotice } from "@/components/Page";
import { useMay } from "@/components/session";
import { changeTemplate, createTemplate, templatesQuery } from "./queries";

interface SaveTemplateProps {
  readonly clusterId: number;
  /** Undefined while something is missing. */
  readonly plan: CampaignPlan | undefined;
}

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
      <Text c="dimmed" role="status" size="sm">
        {saved && t`Kept as ${saved}.`}
      </Text>
    </Group>
  );
}

interface SaveFormProps {
  readonly clusterId: number;
  readonly plan: CampaignPlan;
  /** With the name that it was kept under; undefined: it was not. */
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
              ? t`There is one of this name: its plan is replaced.`
              : t`For everybody who plans in this cluster.`
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
            {same ? t`Replace the template` : t`Save the template`}
          </Button>
          <Button onClick={() => onDone(undefined)} size="xs" variant="default">{t`Cancel`}</Button>
        </Group>
      </Stack>
    </form>
  );
}
