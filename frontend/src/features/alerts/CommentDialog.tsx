import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import type { Incident } from "@/api/types";
import { Dialog } from "@/components/Dialog";
import { CommentForm } from "./CommentForm";

export default function CommentDialog({ incident, onClose }: { incident: Incident; onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title={t`Incident ${incident.id}`}>
      <Text mb="sm" size="sm">
        {incident.words}
      </Text>
      <CommentForm incident={incident} onDone={onClose} />
    </Dialog>
  );
}
