/** Adds a comment to an incident, or acknowledges it for another owner. */

import { t } from "@lingui/core/macro";
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Incident } from "@/api/types";
import { ErrorNotice } from "@/components/Page";
import { useMay } from "@/components/session";
import { useIncidentActions } from "./useIncidentActions";

const LONGEST_COMMENT = 2000;

export function CommentForm({ incident, onDone }: { incident: Incident; onDone?: () => void }) {
  const { act, isPending, error } = useIncidentActions(incident.id);
  const [comment, setComment] = useState("");
  const [owner, setOwner] = useState("");
  if (!useMay("operator", incident.cluster_id)) return null;
  function clear(): void {
    setComment("");
    setOwner("");
    onDone?.();
  }
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
          loading={isPending}
          onClick={() => void act({ action: "comment", comment }, clear)}
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
              loading={isPending}
              onClick={() => void act({ action: "acknowledge", comment, owner: owner.trim() }, clear)}
              variant="default"
            >{t`Assign`}</Button>
          </>
        )}
      </Group>
      {error && <ErrorNotice error={error} />}
    </Stack>
  );
}
