import type { Change, Row } from "./store.ts";

/** Texts by sandbox, section and id; immutable. */
export type SandboxSections = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, string>>>;

export function listRows(sections: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined): Row[] {
  const rows: Row[] = [];
  for (const [section, byId] of sections ?? [])
    for (const [id, text] of byId) rows.push({ section, id, text });
  return rows;
}

/** Applies changes to a copy; unchanged parts are shared. */
export class SectionsDraft {
  readonly kept: Map<string, ReadonlyMap<string, ReadonlyMap<string, string>>>;
  private readonly own = new Map<string, Map<string, Map<string, string>>>();

  constructor(before: SandboxSections) {
    this.kept = new Map(before);
  }

  apply(change: Change): void {
    if ("clear" in change) this.clear(change);
    else if (change.text === null) this.section(change).delete(change.id);
    else this.section(change).set(change.id, change.text);
  }

  private clear({ sandbox, clear }: { sandbox: string; clear: string }): void {
    const left = [...(this.kept.get(sandbox) ?? [])].filter(([section]) => !section.startsWith(clear));
    this.own.delete(sandbox);
    if (left.length === 0) this.kept.delete(sandbox);
    else this.kept.set(sandbox, new Map(left));
  }

  private section({ sandbox, section }: { sandbox: string; section: string }): Map<string, string> {
    let own = this.own.get(sandbox);
    if (own === undefined) {
      own = new Map();
      this.own.set(sandbox, own);
      this.kept.set(sandbox, new Map(this.kept.get(sandbox)));
    }
    let rows = own.get(section);
    if (rows === undefined) {
      rows = new Map(this.kept.get(sandbox)!.get(section));
      own.set(section, rows);
      (this.kept.get(sandbox) as Map<string, ReadonlyMap<string, string>>).set(section, rows);
    }
    return rows;
  }
}
