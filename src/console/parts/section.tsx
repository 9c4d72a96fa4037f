import type { ReactNode } from "react";

/** A part of what is told, under a small heading. */
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
