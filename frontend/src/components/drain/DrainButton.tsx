import { t } from "@lingui/core/macro";
import { Badge, Button, Group, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { lazy } from "react";
import type { Drain } from "@/api/types";
import { DialogButton } from "@/components/buttons";
import { useMay } from "@/components/session";
import { When } from "@/components/values";
import { type DrainSubject, resumeSubject } from "./queries";

const DrainModal = lazy(() => import("./DrainModal"));

interface DrainButtonProps {
  readonly subject: DrainSubject;
  /** For example “node n1” or “everything”. */
  readonly name: string;
  /** Cluster whose operators see the button; null: operators of all clusters. */
  readonly clusterId: number | null;
  readonly drain: Drain | null | undefined;
  readonly size?: string;
}

export function DrainButton({ subject, name, clusterId, drain, size = "xs" }: DrainButtonProps) {
  const resume = useMutation(resumeSubject);
  if (!useMay("operator", clusterId)) return null;
  if (drain)
    return (
      <Button
        aria-label={t`Resume ${name}`}
        loading={resume.isPending}
        onClick={() => resume.mutate(subject)}
        size={size}
        variant="light"
      >{t`Resume`}</Button>
    );
  return (
    <DialogButton
      aria-label={t`Drain ${name}`}
      dialog={(onClose) => <DrainModal name={name} onClose={onClose} subject={subject} />}
      size={size}
      variant="default"
    >{t`Drain`}</DialogButton>
  );
}

export function DrainNote({ drain }: { drain: Drain | null | undefined }) {
  if (!drain) return null;
  return (
    <Group gap={6} maw={420}>
      <Badge color="orange" miw="max-content">{t`drained`}</Badge>
      <Text size="xs" style={{ overflowWrap: "anywhere", whiteSpace: "normal" }}>
        {drain.reason}{" "}
        <Text c="dimmed" inherit span>
          ({drain.by ?? t`an operator`},{" "}
          {drain.until ? <When at={drain.until} prefix="until " /> : t`until resumed`})
        </Text>
      </Text>
    </Group>
  );
}
