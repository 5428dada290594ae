/** /login: the address may hold a one-time link and the page to open afterwards. */

import { getRouteApi, useRouter } from "@tanstack/react-router";
import { LoginPage } from "@/features/accounts/LoginPage";
import { localPath } from "../localPath";

const route = getRouteApi("/login");

export default function LoginRoute() {
  const linkError = route.useLoaderData();
  const { next, error } = route.useSearch();
  const router = useRouter();
  const landing = localPath(next);
  return (
    <LoginPage
      landing={landing}
      linkError={linkError}
      onDone={() => router.history.push(landing)}
      providerError={error ?? null}
    />
  );
}
