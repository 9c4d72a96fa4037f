import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { Button, Select, SelectValue } from "react-aria-components";
import { Link, useLocation } from "wouter";
import { toAddress, useSandboxName } from "../address.ts";
import { useSandbox, useSandboxes } from "../api/queries.ts";
import { Confirmations } from "../components/confirmations.tsx";
import { ChoicePopover } from "../components/form.tsx";
import { ViewLink } from "../components/layout.tsx";
import { Mark } from "../components/status.tsx";
import { formatAbsolute, formatClock, useSandboxNow } from "../components/time.tsx";
import { useLive, useLiveStream } from "../live/use-live.tsx";
import { HOME, prepareView, VIEWS, type View } from "../views/index.ts";
import { ConnectionBanner } from "./connection-banner.tsx";
import { HeldRequests } from "./held-requests.tsx";
import { StatusLine } from "./status-line.tsx";
import { ThemeButton } from "./theme.tsx";

/** Gives the view time to load first. */
const PALETTE_DELAY_MS = 500;

/** The frame of every view: navigation, sandbox, clock, search. */
export function Shell({ view, children }: { view: View | undefined; children: ReactNode }) {
  const sandbox = useSandboxName();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when the address changes
  useEffect(() => setMenuOpen(false), [path]);
  const unseenCount = useUnseenCount();
  useEffect(() => {
    const count = unseenCount > 0 ? `(${unseenCount}) ` : "";
    document.title = `${count}${view?.title ?? "Not found"} · ${sandbox} · Understudy`;
  }, [view, sandbox, unseenCount]);
  const [Palette, setPalette] = useState<ComponentType<{ onClose: () => void }>>();
  // Loaded before it is opened: letters that the user types meanwhile would be lost.
  useEffect(() => {
    if (Palette !== undefined) return undefined;
    const fail = (error: unknown) => {
      throw error;
    };
    const load = () =>
      import("./palette.tsx").then(
        (module) => setPalette(() => module.default),
        (error) => isPaletteOpen && setPalette(() => () => fail(error)),
      );
    const timer = setTimeout(load, isPaletteOpen ? 0 : PALETTE_DELAY_MS);
    return () => clearTimeout(timer);
  }, [isPaletteOpen, Palette]);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return;
      event.preventDefault();
      setPaletteOpen(true);
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, []);
  return (
    <div className={isMenuOpen ? "shell menu-open" : "shell"}>
      <a className="skip" href="#view">
        Skip to content
      </a>
      <header className="top">
        <Button
          className="button square menu-button"
          aria-label="Menu"
          aria-expanded={isMenuOpen}
          aria-controls="navigation"
          onPress={() => setMenuOpen(!isMenuOpen)}
        >
          <span className="head-word">Menu</span>
          <Icon path={MENU_ICON} className="icon head-icon" />
        </Button>
        <ViewLink className="brand" view={HOME.id}>
          Understudy
        </ViewLink>
        <SandboxSwitcher />
        <Clock />
        <div className="top-end">
          <Button
            className="button search-button"
            aria-label="Search Ctrl K"
            onPress={() => setPaletteOpen(true)}
          >
            <span className="head-word">Search</span> <kbd>Ctrl K</kbd>
            <Icon path={SEARCH_ICON} className="icon head-icon" />
          </Button>
          <ThemeButton />
        </div>
      </header>
      <nav id="navigation" className="navigation" aria-label="Views">
        {VIEWS.map(({ id, title, about, icon }) => (
          <Link
            key={id}
            href={toAddress(sandbox, id)}
            className="navigation-link"
            title={about}
            onPointerEnter={() => void prepareView(id)}
            onFocus={() => void prepareView(id)}
            aria-current={id === view?.id ? "page" : undefined}
          >
            <Icon path={icon} />
            {title}
          </Link>
        ))}
      </nav>
      <main id="view" className="view grow" tabIndex={-1}>
        <ConnectionBanner />
        {children}
      </main>
      <HeldRequests />
      <Confirmations />
      <StatusLine />
      {isPaletteOpen && Palette !== undefined && <Palette onClose={() => setPaletteOpen(false)} />}
    </div>
  );
}

/** How many requests came since the window lost the focus. */
function useUnseenCount(): number {
  const { state } = useLiveStream();
  const [lastSeenSeq, setLastSeenSeq] = useState<number>();
  useEffect(() => {
    const onBlur = () => setLastSeenSeq(state.get().timeline.requests.at(-1)?.seq ?? 0);
    const onFocus = () => setLastSeenSeq(undefined);
    addEventListener("blur", onBlur);
    addEventListener("focus", onFocus);
    return () => {
      removeEventListener("blur", onBlur);
      removeEventListener("focus", onFocus);
    };
  }, [state]);
  return useLive(({ timeline: { requests } }) =>
    lastSeenSeq === undefined
      ? 0
      : requests.length - 1 - requests.findLastIndex(({ seq }) => seq <= lastSeenSeq),
  );
}

const MENU_ICON = "M3 5.5h14M3 10h14M3 14.5h14";
const SEARCH_ICON = "M13 13l4 4M14 8.5a5.5 5.5 0 1 1-11 0a5.5 5.5 0 1 1 11 0z";

/** `head-icon` replaces a button's text in narrow windows. */
function Icon({ path, className = "icon" }: { path: string; className?: string }) {
  return (
    <svg className={className} viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

function Clock() {
  const { data } = useSandbox();
  const isLive = useLive((state) => state.connection === "live");
  const now = useSandboxNow();
  if (data === undefined) return null;
  const mode = formatClock(data.clock);
  const iso = new Date(now).toISOString();
  return (
    <span className="clock" title={`Sandbox clock: ${formatAbsolute(iso)}, ${mode}`}>
      <Mark outcome={isLive ? "ok" : "waiting"} word={isLive ? "live" : "offline"} />
      <span className="clock-date">{iso.slice(0, 10)}</span> {iso.slice(11, 19)}
      <span className="quiet clock-mode">{mode}</span>
    </span>
  );
}

/** Switches to the same view of another sandbox. */
function SandboxSwitcher() {
  const sandbox = useSandboxName();
  const { data } = useSandboxes();
  const [path, navigate] = useLocation();
  const choices =
    data?.items.map(({ name, fixture, clock }) => ({
      id: name,
      title: name,
      detail: `${fixture}, ${formatClock(clock)}`,
    })) ?? [];
  // The page may show a sandbox that another client has deleted.
  if (choices.every(({ id }) => id !== sandbox))
    choices.unshift({ id: sandbox, title: sandbox, detail: data ? "deleted" : "" });
  return (
    <Select
      className="switcher"
      aria-label="Sandbox"
      value={sandbox}
      onChange={(name) => navigate(toAddress(String(name), path.split("/")[3] ?? ""))}
    >
      <Button className="button switcher-button">
        <SelectValue>{({ selectedText }) => selectedText ?? sandbox}</SelectValue>
        <span aria-hidden="true">▾</span>
      </Button>
      <ChoicePopover choices={choices} />
    </Select>
  );
}
