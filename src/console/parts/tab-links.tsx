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
  return (
    <nav className="tabs" aria-label={label}>
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
