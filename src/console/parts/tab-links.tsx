import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { addressOf, type Parameters, useSandboxName } from "../address.ts";

/** The parts of a view, each with an address. */
export function TabLinks({
  label,
  view,
  tabs,
  current,
}: {
  label: string;
  view: string;
  tabs: readonly { id: string; title: string; parameters: Parameters }[];
  current: string;
}) {
  const sandbox = useSandboxName();
  const nav = useRef<HTMLElement>(null);
  // On a phone not all of them fit, and the one that is shown has to be seen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another one is marked by then
  useEffect(() => {
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ inline: "nearest", block: "nearest" });
  }, [current]);
  return (
    <nav ref={nav} className="tabs" aria-label={label}>
      {tabs.map(({ id, title, parameters }) => (
        <Link
          key={id}
          className="tab"
          href={addressOf(sandbox, view, parameters)}
          aria-current={id === current ? "page" : undefined}
        >
          {title}
        </Link>
      ))}
    </nav>
  );
}
