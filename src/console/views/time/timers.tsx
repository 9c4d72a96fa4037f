import type { Pending } from "../../../../types/control-api.ts";
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
