import { ControlError } from "../../api/fetch-control.ts";
import type { Receiver, ReceiverOptions } from "../../api/types.ts";
import type { Choice } from "../../parts/form.tsx";

export type Answers = Receiver["answers"];

/** What is typed where none of the usual ones fits. */
export const TYPED = "typed";

export const USUAL: readonly Choice[] = [
  { id: "200", title: "200, always" },
  { id: "500, 500, 200", title: "500 twice, then 200", detail: "retries that succeed" },
  { id: "500", title: "500, always", detail: "until retries are exhausted" },
  { id: "410", title: "410", detail: "which ends the webhook" },
  { id: "200 after 5s", title: "200, five seconds late" },
  { id: "hang", title: "No answer at all", detail: "hang" },
  { id: "reset", title: "Connection reset", detail: "reset" },
  { id: TYPED, title: "Others …" },
];

/** "500, 200 after 1s, hang": as it is typed. */
export function answersText(answers: Answers): string {
  return answers
    .map((answer) => {
      if (typeof answer !== "object") return String(answer);
      return answer.delay === undefined ? String(answer.status) : `${answer.status} after ${answer.delay}`;
    })
    .join(", ");
}

/** @throws ControlError at the field where a word is no answer */
export function answersIn(text: string): NonNullable<ReceiverOptions["answers"]> {
  return text.split(",").map((part) => {
    const word = part.trim();
    if (/^\d{3}$/.test(word)) return Number(word);
    if (word === "hang" || word === "reset") return word;
    const [, status, delay] = /^(\d{3}) after (\S+)$/.exec(word) ?? [];
    if (delay !== undefined) return { status: Number(status), delay: delay as never };
    const detail = `“${word}” is no answer: write a status, a status after a delay (200 after 1s), hang or reset.`;
    throw new ControlError(422, detail, {
      type: "urn:understudy:problem:invalid-input",
      title: "Not an answer",
      status: 422,
      detail,
      field: "answers",
    });
  });
}
