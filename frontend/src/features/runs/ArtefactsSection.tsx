import { t } from "@lingui/core/macro";
import { Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Artefact, RunDetail } from "@/api/types";
import { Command } from "@/components/Command";
import { Hint, RowButton } from "@/components/looks";
import { Loaded } from "@/components/Page";
import { Quantity } from "@/components/values";
import { nodeOf } from "./nodeOf";
import { artefactsQuery, artefactTextQuery } from "./queries";

const LARGEST_SHOWN_BYTES = 256 * 1024;

export function ArtefactsSection({ run }: { run: RunDetail }) {
  const artefacts = useQuery(artefactsQuery(run.id));
  return (
    <>
      <Title mt="md" order={3} size="h6">{t`Raw output`}</Title>
      <Loaded empty={t`No output yet.`} query={artefacts}>
        {(rows) => (
          <Stack gap="xs">
            {rows.map((artefact) => (
              <ArtefactRow artefact={artefact} key={artefact.id} node={nodeOf(run, artefact.order_id)} />
            ))}
          </Stack>
        )}
      </Loaded>
    </>
  );
}

function ArtefactRow({ artefact, node }: { artefact: Artefact; node: string | null }) {
  const [isOpen, setIsOpen] = useState(false);
  const isSmall = artefact.size_bytes <= LARGEST_SHOWN_BYTES;
  return (
    <div>
      <Group gap="xs">
        <Text size="sm">{node === null ? artefact.name : `${node}: ${artefact.name}`}</Text>
        <Hint>
          <Quantity unit="bytes" value={artefact.size_bytes} />
        </Hint>
        {isSmall && (
          <RowButton
            aria-expanded={isOpen}
            aria-label={`${isOpen ? "Hide" : "Show"} ${artefact.name}`}
            onClick={() => setIsOpen(!isOpen)}
          >
            {isOpen ? t`Hide` : t`Show`}
          </RowButton>
        )}
        <RowButton
          aria-label={t`Download ${artefact.name}`}
          component="a"
          href={`/api/v1/artefacts/${artefact.id}`}
        >{t`Download`}</RowButton>
      </Group>
      {isOpen && <ArtefactText artefact={artefact} />}
    </div>
  );
}

function ArtefactText({ artefact }: { artefact: Artefact }) {
  const text = useQuery(artefactTextQuery(artefact.id));
  return (
    <Loaded empty={t`The file is empty.`} isEmpty={(content) => content === ""} query={text}>
      {(content) => <Command label={t`Copy ${artefact.name}`} maxHeight={320} text={content} />}
    </Loaded>
  );
}
