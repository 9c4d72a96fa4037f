import type { Entry } from "./recording.ts";

export interface IntendedChange {
  /** The position in the recording, from 0, or what the requests have in common. */
  request: number | ((entry: Entry) => boolean);
  /** One sentence that says why the answer is another one now. */
  reason: string;
}

/** Lists the answers that may differ from the recording, because a change of them was wanted. */
export const INTENDED_CHANGES: readonly IntendedChange[] = [
  {
    request: ({ request, answer }) => request.path === "/v1/images/uncrop" && answer.status === 200,
    reason: "Outpainting mirrors the image with a seeded tint; quilting and prompt painting are gone.",
  },
  {
    request: ({ request: { path } }) => /\/(history|journal)\b/.test(path),
    reason: "Entries of the journal and the history have a `seq`, and the journal's have `undone`.",
  },
  {
    request: ({ request: { path }, answer }) =>
      /\/(audit-log\/export|dashboard\/change-logs)\b/.test(path) && answer.status === 200,
    reason: "Seeded logs are generated as lives of their own, with names from faker.",
  },
  {
    request: ({ request: { path }, answer: { status } }) => path.startsWith("/_control/") && status >= 400,
    reason: "Refusals of the control API are worded in plain English.",
  },
  { request: hasSettings, reason: "Sandboxes have one more setting, `locale` (G44)." },
  {
    request: ({ request }) => request.path.endsWith("/scenarios/active"),
    reason: "A listed scenario says by `origin` where it comes from, and derived scenarios have no file.",
  },
  ...[257, 267].map((request) => ({
    request,
    reason: "The name and the e-mail address that a state call left out come from faker (G44).",
  })),
];

function hasSettings({ answer: { body } }: Entry): boolean {
  return typeof body === "string" && body.includes('"retry_schedule":');
}
