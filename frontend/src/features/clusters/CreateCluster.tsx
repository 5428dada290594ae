import { t } from "@lingui/core/macro";
import { Button, Group, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { ErrorNotice } from "@/components/Page";
import { submitted } from "@/components/submitted";
import { createCluster } from "./queries";

export default function CreateCluster({ onDone }: { onDone: (clusterId: number) => void }) {
  const create = useMutation(createCluster);
  const submit = submitted((text) => {
    const body = { name: text("name"), description: text("description") };
    create.mutate(body, { onSuccess: ({ id }) => onDone(id) });
  });
  return (
    <form aria-label={t`New cluster`} onSubmit={submit}>
      {create.error && <ErrorNotice error={create.error} />}
      <Group align="flex-end">
        <TextInput label={t`Cluster name`} name="name" placeholder={t`hpc1`} required />
        <TextInput flex={1} label={t`Description`} miw={200} name="description" />
        <Button loading={create.isPending} type="submit">{t`Create cluster`}</Button>
      </Group>
    </form>
  );
}
