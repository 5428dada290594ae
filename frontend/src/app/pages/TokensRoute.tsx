/** /settings/tokens */

import { TokensPage } from "@/features/accounts/TokensPage";

export default function TokensRoute() {
  return <TokensPage />;
}
