/** Frame of every page: navigation, command palette, colour scheme, connection state and a skip link. */

import { t } from "@lingui/core/macro";
import { ActionIcon, Group, Text, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useEffectEvent, useRef, useState } from "react";
import { followUpdates, refetchOnUpdates } from "@/api/changeFeed";
import type { Cluster } from "@/api/types";
import { Icon } from "@/components/Icon";
import { ButtonLink, MenuLink, TextLink } from "@/components/links";
import { Detail } from "@/components/looks";
import { OriginProvider } from "@/components/Origin";
import { OptionTitles } from "@/components/optionTitles";
import { usePreferences, useScheme } from "@/components/preferences";
import { SessionProvider, useIsLoggedIn, usePrincipal } from "@/components/session";
import { UnitsNote } from "@/components/UnitsNote";
import { sessionQuery } from "@/features/accounts/queries";
import { clustersQuery } from "@/features/clusters/queries";
import { namedWorkloadsQuery } from "@/features/workloads/queries";
import { type Action, actionOf, isTaken, moveRow, PAIR_MILLISECONDS } from "./keys";
import { PLACE_GROUPS, type Place } from "./places";

const AddEventForm = lazy(() =>
  import("./pages/AddEvent").then(({ AddEventForm }) => ({ default: AddEventForm })),
);
const AwayBanner = lazy(() => import("./AwayBanner"));
const CommandPalette = lazy(() => import("./CommandPalette"));
const DisplayModal = lazy(() => import("./DisplayModal"));
const GuestNote = lazy(() => import("./GuestNote"));
const KeysModal = lazy(() => import("./KeysModal"));

const NONE = [] as const;

export function Shell() {
  const { data: session } = useSuspenseQuery(sessionQuery);
  const { data: clusters = NONE } = useQuery(clustersQuery);
  // Workloads of all clusters: lists that span clusters name options as each cluster's own page does.
  const { data: workloads = NONE } = useQuery(namedWorkloadsQuery);
  const isLineUp = useLive();
  const { rates, zone } = usePreferences();
  const [isPaletteOpen, palette] = useDisclosure();
  const [isDisplayOpen, display] = useDisclosure();
  const [isHelpOpen, help] = useDisclosure();
  const [eventCluster, setEventCluster] = useState<Cluster>();
  useHotkeys([["mod+K", palette.toggle]], []);
  useKeys({ help: help.open, palette: palette.open });
  return (
    <SessionProvider principal={session.principal}>
      <a className="iotide-skip" href="#main">{t`Skip to content`}</a>
      <div className="iotide-shell">
        <Header isLineUp={isLineUp} onDisplay={display.open} onPalette={palette.open} />
        <Menu />
        <main id="main" tabIndex={-1}>
          <Suspense>
            <AwayBanner isLineUp={isLineUp} />
            {session.principal.kind === "anonymous" && <GuestNote />}
          </Suspense>
          <OriginProvider clusters={clusters}>
            {/* Remount figures and tables when the units change, since they keep state. */}
            <OptionTitles workloads={workloads}>
              <Outlet key={`${rates} ${zone}`} />
            </OptionTitles>
            <UnitsNote />
          </OriginProvider>
        </main>
      </div>
      <Suspense>
        {isPaletteOpen && (
          <CommandPalette
            dialogs={{ display: display.open, help: help.open, addEvent: setEventCluster }}
            onClose={palette.close}
          />
        )}
      </Suspense>
      <Suspense>{isDisplayOpen && <DisplayModal onClose={display.close} />}</Suspense>
      <Suspense>
        {eventCluster && <AddEventForm cluster={eventCluster} onClose={() => setEventCluster(undefined)} />}
      </Suspense>
      <Suspense>{isHelpOpen && <KeysModal onClose={help.close} />}</Suspense>
    </SessionProvider>
  );
}

function Menu() {
  const isLoggedIn = useIsLoggedIn();
  const { pathname } = useLocation();
  const nav = useRef<HTMLElement>(null);
  // On a narrow screen the menu scrolls. Keep the current link visible.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has another current link
  useEffect(() => {
    const current = nav.current?.querySelector("[aria-current]");
    current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [pathname]);
  const groups = PLACE_GROUPS.filter(({ places }) => isLoggedIn || places[0].to !== "/settings");
  return (
    <nav aria-label={t`Main`} className="iotide-scroll" ref={nav}>
      {groups.map(({ label, places }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs
        <div aria-label={label} key={label} role="group">
          {places.map((place) => (
            <PlaceLink key={place.to} pathname={pathname} place={place} />
          ))}
        </div>
      ))}
    </nav>
  );
}

function PlaceLink({ place: { to, label, icon, holds }, pathname }: { place: Place; pathname: string }) {
  const isAround = holds?.test(pathname) ?? false;
  return (
    <MenuLink
      active={isAround}
      activeOptions={{ exact: to === "/", includeSearch: false }}
      aria-current={isAround || undefined}
      label={label}
      leftSection={<Icon name={icon} />}
      to={to}
    />
  );
}

interface HeaderProps {
  readonly isLineUp: boolean;
  readonly onPalette: () => void;
  readonly onDisplay: () => void;
}

function Header({ isLineUp, onPalette, onDisplay }: HeaderProps) {
  const { name, kind } = usePrincipal();
  const { href } = useLocation();
  return (
    <header>
      <Group gap="sm" wrap="nowrap">
        <TextLink fw={700} size="lg" to="/" underline="never">{t`iotide`}</TextLink>
        <LiveSign isUp={isLineUp} />
      </Group>
      <Group gap="xs" wrap="nowrap">
        <UnstyledButton aria-label={t`Open command palette`} className="iotide-search" onClick={onPalette}>
          <Icon name="search" size={16} />
          <Text component="span" size="sm" visibleFrom="sm">{t`Search or run a command …`}</Text>
          <Text component="kbd" size="xs" visibleFrom="sm">{t`Ctrl K`}</Text>
        </UnstyledButton>
        <SchemeToggle />
        <ActionIcon
          aria-label={t`Display: units, time zone, colours`}
          onClick={onDisplay}
          size={36}
          title={t`Units, time zone, colours`}
          variant="default"
        >
          <Icon name="settings" />
        </ActionIcon>
        {kind === "anonymous" ? (
          <ButtonLink px="sm" search={{ next: href }} to="/login">{t`Sign in`}</ButtonLink>
        ) : (
          <ButtonLink maw={160} px="sm" to="/settings" variant="default">
            {name}
          </ButtonLink>
        )}
      </Group>
    </header>
  );
}

function LiveSign({ isUp }: { isUp: boolean }) {
  return (
    <Detail role="status">
      <span aria-hidden="true" className="iotide-dot" data-up={isUp} /> {isUp ? t`live` : t`reconnecting`}
    </Detail>
  );
}

function SchemeToggle() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useScheme() === "dark" ? "light" : "dark";
  const label = t`Use the ${other} scheme`;
  return (
    <ActionIcon
      aria-label={label}
      onClick={() => setColorScheme(other)}
      size={36}
      title={label}
      variant="default"
      visibleFrom="sm"
    >
      <Icon name={other} />
    </ActionIcon>
  );
}

function useLive(): boolean {
  const client = useQueryClient();
  const [isUp, setIsUp] = useState(true);
  useEffect(() => {
    const invalidate = refetchOnUpdates(client);
    return followUpdates((update) => {
      if (update.type === "line") setIsUp(update.up);
      else invalidate(update);
    });
  }, [client]);
  return isUp;
}

interface Opens {
  readonly help: () => void;
  readonly palette: () => void;
}

function useKeys(open: Opens): void {
  const navigate = useNavigate();
  const act = useEffectEvent((action: Action) => {
    if (action.kind === "go") void navigate({ to: action.to });
    else if (action.kind === "new") void navigate({ to: "/campaigns/new" });
    else if (action.kind === "row")
      moveRow(document.getElementById("main") ?? document, document.activeElement, action.step);
    else open[action.kind]();
  });
  useEffect(() => {
    let last: { readonly key: string; readonly at: number } | undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTaken(event.target))
        return;
      const before = last && event.timeStamp - last.at < PAIR_MILLISECONDS ? last.key : undefined;
      last = { key: event.key, at: event.timeStamp };
      const action = actionOf(event.key, before);
      if (!action) return;
      event.preventDefault();
      last = undefined;
      act(action);
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
