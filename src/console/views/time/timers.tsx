import type { Pending } from "../../../../types/control-api.ts";
import { ViewLink } from "../../components/layout.tsx";

const KINDS: Record<Pending["kind"], string> = {
  "webhook.retry": "webhook retry",
  "file.step": "file processing",
  "connector.job": "connector job",
  "transcription.step": "transcription",
  "meeting.line": "spoken line of a meeting",
  invoice: "invoice",
  expiry: "expiry",
  lease: "rule expiry",
};

/** The name of a kind; the kind itself if it has no name, such as one of a newer server. */
export function formatTimerKind({ kind }: Pick<Pending, "kind">): string {
  return (KINDS[kind] as string | undefined) ?? kind;
}

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
