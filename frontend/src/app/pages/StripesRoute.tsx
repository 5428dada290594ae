/** /tools/stripes: stripes of a layout and mkfs commands for it. The layout is in the address. */

import { t } from "@lingui/core/macro";
import { Button, Group, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Page } from "@/components/Page";
import { submitted } from "@/components/submitted";
import { LayoutForms, StripesSection } from "@/features/scratch/StripesSection";

const route = getRouteApi("/shell/tools/stripes");
const EXAMPLE = "raid5:4x64K";

export default function StripesRoute() {
  const { layout = EXAMPLE } = route.useSearch();
  const navigate = route.useNavigate();
  const submit = submitted((text) => void navigate({ search: { layout: text("layout") || undefined } }));
  return (
    <Page title={t`Stripe calculator`}>
      <form aria-label={t`Layout of disks`} onSubmit={submit}>
        <Group align="flex-end">
          <TextInput
            defaultValue={layout}
            flex="0 1 420px"
            key={layout}
            label={t`Layout`}
            maxLength={100}
            name="layout"
          />
          <Button type="submit">{t`Calculate`}</Button>
        </Group>
      </form>
      <LayoutForms />
      <StripesSection layout={layout} />
    </Page>
  );
}
