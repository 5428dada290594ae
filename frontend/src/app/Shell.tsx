/** What stands around every page: navigation, search, colour scheme, the line to the server, and a way past them all. */

import { ActionIcon, Group, Text, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Outlet, useLocation } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { Icon } from "@/components/Icon";
import { ButtonLink, MenuLink, TextLink } from "@/components/links";
import { MadeUpProvider } from "@/components/MadeUp";
import { useScheme } from "@/components/scheme";
import { SessionProvider, usePrincipal } from "@/components/session";
import { sessionQuery } from "@/features/accounts/queries";
import { clustersQuery } from "@/features/clusters/queries";
import { useLive } from "./useLive";

const CommandPalette = lazy(() => import("./CommandPalette"));

/** What the menu leads to; `holds` begins the addresses of pages that belong there too. */
const PLACES = [
  { to: "/", label: "Overview", icon: "overview", holds: ["/targets/", "/queues/"] },
  { to: "/campaigns", label: "Campaigns", icon: "list", holds: ["/runs/"] },
  { to: "/schedules", label: "Schedules", icon: "calendar", holds: [] },
  { to: "/trends", label: "Trends", icon: "trend", holds: ["/clusters/"] },
  { to: "/changes", label: "Changes", icon: "step", holds: [] },
  { to: "/alerts", label: "Alerts", icon: "alert", holds: [] },
  { to: "/compare", label: "Compare", icon: "compare", holds: [] },
  { to: "/peers", label: "Peers", icon: "sweep", holds: [] },
  { to: "/settings", label: "Settings", icon: "settings", holds: [] },
] as const;

const NONE = [] as const;

export function Shell() {
  const { data: session } = useSuspenseQuery(sessionQuery);
  const { data: clusters = NONE } = useQuery(clustersQuery);
  const [isPaletteOpen, palette] = useDisclosure();
  useHotkeys([["mod+K", palette.toggle]], []);
  return (
    <SessionProvider principal={session.principal}>
      <a className="iotide-skip" href="#main">
        Skip to the content
      </a>
      <div className="iotide-shell">
        <Header onPalette={palette.open} />
        <Menu />
        <main id="main" tabIndex={-1}>
          <MadeUpProvider clusters={clusters}>
            <Outlet />
          </MadeUpProvider>
        </main>
      </div>
      <Suspense>{isPaletteOpen && <CommandPalette onClose={palette.close} />}</Suspense>
    </SessionProvider>
  );
}

function Menu() {
  const { pathname } = useLocation();
  return (
    <nav aria-label="Main">
      {PLACES.map(({ to, label, icon, holds }) => {
        const isAround = holds.some((beginning) => pathname.startsWith(beginning));
        return (
          <MenuLink
            active={isAround}
            activeOptions={{ exact: to === "/" }}
            aria-current={isAround || undefined}
            key={to}
            label={label}
            leftSection={<Icon name={icon} />}
            to={to}
          />
        );
      })}
    </nav>
  );
}

function Header({ onPalette }: { onPalette: () => void }) {
  const { name } = usePrincipal();
  return (
    <header>
      <Group gap="sm" wrap="nowrap">
        <TextLink fw={700} size="lg" to="/" underline="never">
          iotide
        </TextLink>
        <LiveSign />
      </Group>
      <Group gap="xs" wrap="nowrap">
        <UnstyledButton aria-label="Open the command palette" className="iotide-search" onClick={onPalette}>
          <Icon name="search" size={16} />
          <Text component="span" size="sm" visibleFrom="sm">
            Go to or do …
          </Text>
          <Text component="kbd" size="xs" visibleFrom="sm">
            Ctrl K
          </Text>
        </UnstyledButton>
        <SchemeToggle />
        <ButtonLink maw={160} px="sm" to="/settings" variant="default">
          {name}
        </ButtonLink>
      </Group>
    </header>
  );
}

function LiveSign() {
  const isUp = useLive();
  return (
    <Text c="dimmed" role="status" size="xs">
      <span aria-hidden="true" className="iotide-dot" data-up={isUp} /> {isUp ? "live" : "reconnecting"}
    </Text>
  );
}

function SchemeToggle() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useScheme() === "dark" ? "light" : "dark";
  const label = `Use the ${other} scheme`;
  return (
    <ActionIcon
      aria-label={label}
      onClick={() => setColorScheme(other)}
      size={36}
      title={label}
      variant="default"
    >
      <Icon name={other} />
    </ActionIcon>
  );
}
