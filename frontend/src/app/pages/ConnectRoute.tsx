/** /connect: the address that `iotide login` prints. */

import { getRouteApi } from "@tanstack/react-router";
import { ConnectPage } from "@/features/accounts/ConnectPage";

const route = getRouteApi("/shell/connect");
const LOGIN = /^sha256-([0-9a-f]{64})$/;

export default function ConnectRoute() {
  const { login, name, at } = route.useSearch();
  const secret_sha256 = LOGIN.exec(login ?? "")?.[1];
  const isWhole = secret_sha256 !== undefined && name !== undefined && at !== undefined;
  return <ConnectPage login={isWhole ? { name, secret_sha256, asked_at: at } : null} />;
}
