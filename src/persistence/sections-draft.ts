import { getOrAdd } from "../engine/maps.ts";
import type { Row, RowChange } from "./store.ts";

/** Texts of one sandbox by section and id; immutable. */
export type Sections = ReadonlyMap<string, ReadonlyMap<string, string>>;
/** By name of the sandbox. */
export type SandboxSections = ReadonlyMap<string, Sections>;

export function listRows(sections: Sections | undefined): Row[] {
  const rows: Row[] = [];
  for (const [section, byId] of sections ?? [])
    for (const [id, text] of byId) rows.push({ section, id, text });
  return rows;
}

/** The inverse of `listRows`. */
export function groupRows(rows: Iterable<Row>): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  for (const { section, id, text } of rows) getOrAdd(sections, section, () => new Map()).set(id, text);
  return sections;
}

/** Applies changes to a copy; unchanged parts are shared. */
export class SectionsDraft {
  /** By name of the sandbox. */
  readonly sections: Map<string, Sections>;
  /** By sandbox and section: the rows that were copied, which may be changed. */
  private readonly copies = new Map<string, Map<string, Map<string, string>>>();

  constructor(before: SandboxSections) {
    this.sections = new Map(before);
  }

  apply(change: RowChange): void {
    if ("clearPrefix" in change) this.clear(change);
    else if (change.text === null) this.copySection(change).delete(change.id);
    else this.copySection(change).set(change.id, change.text);
  }

  /** Removes the sections whose names begin with `clearPrefix`. */
  private clear({ sandbox, clearPrefix }: { sandbox: string; clearPrefix: string }): void {
    const remaining = [...(this.sections.get(sandbox) ?? [])].filter(
      ([section]) => !section.startsWith(clearPrefix),
    );
    // The copies belong to the map that is replaced here; a later change copies its section again.
    this.copies.delete(sandbox);
    if (remaining.length === 0) this.sections.delete(sandbox);
    else this.sections.set(sandbox, new Map(remaining));
  }

  /** The rows of a section, copied on first use; other sections stay shared with the earlier value. */
  private copySection({ sandbox, section }: { sandbox: string; section: string }): Map<string, string> {
    const copies = getOrAdd(this.copies, sandbox, () => {
      this.sections.set(sandbox, new Map(this.sections.get(sandbox)));
      return new Map();
    });
    return getOrAdd(copies, section, () => {
      const sections = this.sections.get(sandbox) as Map<string, ReadonlyMap<string, string>>;
      const rows = new Map(sections.get(section));
      sections.set(section, rows);
      return rows;
    });
  }
}
