import { t } from "@lingui/core/macro";
import { PageTabs } from "@/components/PageTabs";
import { COMPARE_TABS } from "../places";

export function CompareTabs() {
  return <PageTabs label={t`Compare pages`} tabs={COMPARE_TABS} />;
}
