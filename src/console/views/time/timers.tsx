import type { Pending } from "../../../../types/control-api.ts";
import { ViewLink } from "../../components/layout.tsx";
import type { Outcome } from "../../components/mark.tsx";

export const KINDS: Record<Pending["kind"], { name: string; outcome: Outcome }> = {
  "webhook.retry": { name: "webhook retry", outcome: "refused" },
  "file.step": { name: "file processing", outcome: "ok" },
  "connector.job": { name: "connector job", outcome: "other" },
  "transcription.step": { name: "transcription", outcome: "ok" },
  "meeting.line": { name: "meeting line", outcome: "other" },
  invoice: { name: "invoice", outcome: "waiting" },
  expiry: { name: "expiry", outcome: "failed" },
  lease: { name: "rule expires", outcome: "fault" },
};

/** A kind without a name, such as one of a newer server, names itself. */
export function nameTimer({ kind }: Pick<Pending, "kind">): string {
  return (KINDS[kind] as (typeof KINDS)[Pending["kind"]] | undefined)?.name ?? kind;
}

/** The name of the record that a timer is about, with a link to it. */
export function SubjectLink({ timer: { kind, subject, collection, name } }: { timer: Pending }) {
  if (kind === "webhook.retry")
    return (
      <ViewLink view="webhooks" query={{ delivery: subject }}>
        {name ?? subject}
      </ViewLink>
    );
  if (kind === "lease") return <ViewLink view="faults">{subject}</ViewLink>;
  if (collection === null) return subject;
  return (
    <ViewLink view="world" query={{ collection, record: subject }}>
      {name ?? subject}
    </ViewLink>
  );
}
