/** Adds a comment to an incident, or acknowledges it for another owner. */

import { t } from "@lingui/core/macro";
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Incident } from "@/api/types";
import { ErrorNotice } from "@/components/Page";
import { useMay } from "@/components/session";
import { actOnIncident } from "./queries";

const LONGEST_COMMENT = 2000;

export function CommentForm({ incident }: { incident: Incident }) {
  const act = useMutation(actOnIncident);
  const [comment, setComment] = useState("");
  const [owner, setOwner] = useState("");
  if (!useMay("operator", incident.cluster_id)) return null;
  function clear(): void {
    setComment("");
    setOwner("");
  }
  const send = (body: { action: "comment" | "acknowledge"; comment: string; owner?: string }) =>
    act.mutate({ incidentId: incident.id, body }, { onSuccess: clear });
  return (
    <Stack gap="xs" mb="sm">
      <Group align="flex-end">
        <TextInput
          flex={1}
          label={t`Comment`}
          maxLength={LONGEST_COMMENT}
          miw={220}
          onChange={(event) => setComment(event.currentTarget.value)}
          value={comment}
        />
        <Button
          disabled={comment.trim() === ""}
          loading={act.isPending}
          onClick={() => send({ action: "comment", comment })}
          variant="default"
        >{t`Add comment`}</Button>
        {incident.moves.includes("acknowledge") && (
          <>
            <TextInput
              label={t`New owner`}
              onChange={(event) => setOwner(event.currentTarget.value)}
              value={owner}
              w={140}
            />
            <Button
              disabled={owner.trim() === ""}
              loading={act.isPending}
              onClick={() => send({ action: "acknowledge", comment, owner: owner.trim() })}
              variant="default"
            >{t`Assign`}</Button>
          </>
        )}
      </Group>
      {act.error && <ErrorNotice error={act.error} />}
    </Stack>
  );
}
