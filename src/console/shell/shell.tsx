import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { Button } from "react-aria-components";
import { Link, useLocation } from "wouter";
import { addressOf, useSandboxName } from "../address.ts";
import { useSandbox } from "../api/queries.ts";
import { useSandboxNow } from "../live/sandbox-now.ts";
import { useLive } from "../live/use-live.tsx";
import { Mark } from "../parts/mark.tsx";
import { absolute, clockWords } from "../parts/time.tsx";
import { prepareView } from "../views/components.ts";
import { VIEWS } from "../views/index.ts";
import type { View } from "../views/view.ts";
import { ConnectionBanner } from "./connection-banner.tsx";
import { SandboxSwitcher } from "./sandbox-switcher.tsx";
import { ThemeButton } from "./theme-button.tsx";

const Palette = lazy(() => import("./palette.tsx"));

/** Around every view: where one is, what time it is there, and the ways to everything else. */
export function Shell({ view, children }: { view: View | undefined; children: ReactNode }) {
  const sandbox = useSandboxName();
  const [menu, setMenu] = useState(false);
  const [palette, setPalette] = useState(false);
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever went elsewhere is done with the menu
  useEffect(() => setMenu(false), [path]);
  useEffect(() => {
    document.title = `${view?.title ?? "Not found"} · ${sandbox} · Understudy`;
  }, [view, sandbox]);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return;
      event.preventDefault();
      setPalette(true);
    };
    addEventListener("keydown", open);
    return () => removeEventListener("keydown", open);
  }, []);
  return (
    <div className={menu ? "shell menu-open" : "shell"}>
      <a className="skip" href="#view">
        Skip to the view
      </a>
      <header className="top">
        <Button
          className="button subtle menu-button"
          aria-expanded={menu}
          aria-controls="navigation"
          onPress={() => setMenu(!menu)}
        >
          <span className="head-word">Menu</span>
          <HeadIcon path={LINES} />
        </Button>
        <Link className="brand" href={addressOf(sandbox, VIEWS[0]!.id)}>
          Understudy
        </Link>
        <SandboxSwitcher />
        <Clock />
        <div className="top-end">
          <Button className="button search-button" onPress={() => setPalette(true)}>
            <span className="head-word">Find</span> <kbd>Ctrl K</kbd>
            <HeadIcon path={LENS} />
          </Button>
          <ThemeButton />
        </div>
      </header>
      <nav id="navigation" className="navigation" aria-label="Views">
        {VIEWS.map(({ id, title, about, icon }) => (
          <Link
            key={id}
            href={addressOf(sandbox, id)}
            className="navigation-link"
            title={about}
            onPointerEnter={() => void prepareView(id)}
            onFocus={() => void prepareView(id)}
            aria-current={id === view?.id ? "page" : undefined}
          >
            <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
              <path d={icon} />
            </svg>
            {title}
          </Link>
        ))}
      </nav>
      <main id="view" className="view" tabIndex={-1}>
        <ConnectionBanner />
        {children}
      </main>
      {palette && (
        <Suspense>
          <Palette onClose={() => setPalette(false)} />
        </Suspense>
      )}
    </div>
  );
}

const LINES = "M3 5.5h14M3 10h14M3 14.5h14";
const LENS = "M13 13l4 4M14 8.5a5.5 5.5 0 1 1-11 0a5.5 5.5 0 1 1 11 0z";

/** In place of a button's word, where the head has no room for both that and the sandbox's name. */
function HeadIcon({ path }: { path: string }) {
  return (
    <svg className="head-icon" viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** The sandbox's now, and whether it stands still. */
function Clock() {
  const { data } = useSandbox();
  const connection = useLive((state) => state.connection);
  const now = useSandboxNow();
  if (data === undefined) return null;
  const word = clockWords(data.clock);
  const iso = new Date(now).toISOString();
  return (
    <span className="clock" title={`The sandbox's clock: ${absolute(iso)}, ${word}`}>
      <Mark
        outcome={connection === "live" ? "ok" : "waiting"}
        word={connection === "live" ? "live" : "not live"}
      />
      <span className="clock-date">{iso.slice(0, 10)}</span> {iso.slice(11, 19)}
      <span className="quiet clock-mode">{word}</span>
    </span>
  );
}
