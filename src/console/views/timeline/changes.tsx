import { useSandboxQuery } from "../../api/queries.ts";
import type { HistoryEntry } from "../../api/types.ts";
import { ReadProblem } from "../../parts/notice.tsx";
import { RecordChangeLists } from "../../parts/record-changes.tsx";
import { Section } from "../../parts/section.tsx";

/** Record by record, what an entry changed: fields before and after. */
export function Changes({ entry }: { entry: HistoryEntry }) {
  const { data, error } = useSandboxQuery(["changes", entry.id], (calls) => calls.changes(entry.id), {
    enabled: entry.kept,
    live: false,
  });
  if (Object.keys(entry.changes).length === 0) return null;
  if (!entry.kept) {
    return (
      <Section title="Changes">
        <p className="quiet">
          The worlds before and after it were let go; only the numbers are left. Rewinding to it is no longer
          possible.
        </p>
      </Section>
    );
  }
  return (
    <Section title="Changes">
      <ReadProblem error={error} />
      {data && <RecordChangeLists changes={data} />}
    </Section>
  );
}
