import type { Row, RowChange } from "./store.ts";

/** Texts by sandbox, section and id; immutable. */
export type SandboxSections = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, string>>>;

export function listRows(sections: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined): Row[] {
  const rows: Row[] = [];
  for (const [getCopy, byId] of sections ?? [])
    for (const [id, text] of byId) rows.push({ section: getCopy, id, text });
  return rows;
}

/** Applies changes to a copy; unchanged parts are shared. */
export class SectionsDraft {
  readonly sections: Map<string, ReadonlyMap<string, ReadonlyMap<string, string>>>;
  private readonly copies = new Map<string, Map<string, Map<string, string>>>();

  constructor(before: SandboxSections) {
    this.sections = new Map(before);
  }

  apply(change: RowChange): void {
    if ("clear" in change) this.clear(change);
    else if (change.text === null) this.getCopy(change).delete(change.id);
    else this.getCopy(change).set(change.id, change.text);
  }

  private clear({ sandbox, clear }: { sandbox: string; clear: string }): void {
    const remaining = [...(this.sections.get(sandbox) ?? [])].filter(
      ([getCopy]) => !getCopy.startsWith(clear),
    );
    this.copies.delete(sandbox);
    if (remaining.length === 0) this.sections.delete(sandbox);
    else this.sections.set(sandbox, new Map(remaining));
  }

  private getCopy({ sandbox, section: getCopy }: { sandbox: string; section: string }): Map<string, string> {
    let copies = this.copies.get(sandbox);
    if (copies === undefined) {
      copies = new Map();
      this.copies.set(sandbox, copies);
      this.sections.set(sandbox, new Map(this.sections.get(sandbox)));
    }
    let rows = copies.get(getCopy);
    if (rows === undefined) {
      rows = new Map(this.sections.get(sandbox)!.get(getCopy));
      copies.set(getCopy, rows);
      (this.sections.get(sandbox) as Map<string, ReadonlyMap<string, string>>).set(getCopy, rows);
    }
    return rows;
  }
}
