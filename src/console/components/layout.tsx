import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import { type Parameters, toAddress, useSandboxName } from "../address.ts";

const LIST = "[role=grid], [role=treegrid]";

/**
 * Details of the selected row: next to the list, or above it in narrow windows. Takes the focus if opened by a key;
 * Escape closes it and restores the focus.
 */
export function DetailPane({
  title,
  label,
  onClose,
  actions,
  children,
}: {
  title: ReactNode;
  label: string;
  onClose: () => void;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = pane.current!;
    const around = element.parentElement!;
    const close = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      const at = event.target as Element;
      if (element.contains(at) || at.matches(LIST)) onClose();
    };
    around.addEventListener("keydown", close);
    return () => around.removeEventListener("keydown", close);
  }, [onClose]);
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    if (opener?.matches(LIST) && opener.matches(":focus-visible")) pane.current!.focus();
    return () => {
      // Otherwise the focus would be lost.
      if (document.activeElement === document.body && opener?.isConnected) opener.focus();
    };
  }, []);
  return (
    <section ref={pane} className="detail appear" aria-label={label} tabIndex={-1}>
      <header className="detail-head">
        <h2>{title}</h2>
        <Button className="button subtle icon-button" aria-label="Close" onPress={onClose}>
          ✕
        </Button>
      </header>
      {actions && <div className="actions">{actions}</div>}
      <div className="detail-body">{children}</div>
    </section>
  );
}

export function Section({ title, children, end }: { title: string; children: ReactNode; end?: ReactNode }) {
  return (
    <section className="section" aria-label={title}>
      <header className="section-head">
        <h3>{title}</h3>
        {end}
      </header>
      {children}
    </section>
  );
}

/** Names and values; undefined values are left out. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name} className="fact">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Tabs of a view, each with its own address. */
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
          href={toAddress(sandbox, view, parameters)}
          aria-current={id === current ? "page" : undefined}
        >
          {title}
        </Link>
      ))}
    </nav>
  );
}
