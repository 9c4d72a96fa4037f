import type { Receiver, ReceiverOptions } from "../../../../types/control-api.ts";
import { ControlError } from "../../api/fetch-control.ts";
import { type Choice, ChoiceField, Field } from "../../components/form.tsx";

export type Answers = Receiver["answers"];

/** Id of the choice for typed responses. */
export const TYPED = "typed";

export const USUAL: readonly Choice[] = [
  { id: "200", title: "200, always" },
  { id: "500, 500, 200", title: "500 twice, then 200", detail: "retries that succeed" },
  { id: "500", title: "500, always", detail: "until retries are exhausted" },
  { id: "410", title: "410", detail: "disables the webhook" },
  { id: "200 after 5s", title: "200 after 5 s" },
  { id: "hang", title: "No response", detail: "hang" },
  { id: "reset", title: "Connection reset", detail: "reset" },
  { id: TYPED, title: "Custom …" },
];

/** "500, 200 after 1s, hang". */
export function answersText(answers: Answers): string {
  return answers
    .map((answer) => {
      if (typeof answer !== "object") return String(answer);
      return answer.delay === undefined ? String(answer.status) : `${answer.status} after ${answer.delay}`;
    })
    .join(", ");
}

/** @throws ControlError for an invalid response */
export function parseAnswers(text: string): NonNullable<ReceiverOptions["answers"]> {
  return text.split(",").map((part) => {
    const word = part.trim();
    if (/^\d{3}$/.test(word)) return Number(word);
    if (word === "hang" || word === "reset") return word;
    const [, status, delay] = /^(\d{3}) after (\S+)$/.exec(word) ?? [];
    if (delay !== undefined) return { status: Number(status), delay: delay as never };
    const detail = `“${word}” is not a valid response. Use a status (200), a status with a delay (200 after 1s), hang or reset.`;
    throw new ControlError(422, detail, {
      type: "urn:understudy:problem:invalid-input",
      title: "Invalid response",
      status: 422,
      detail,
      field: "answers",
    });
  });
}

/** Selects the responses of a receiver, or edits them as text. */
export function AnswersField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const usual = USUAL.some(({ id }) => id === value && id !== TYPED);
  return (
    <>
      <ChoiceField
        label="Responses"
        name={usual ? "answers" : ""}
        value={usual ? value : TYPED}
        onChange={(id) => onChange(id === TYPED ? "500, 200 after 1s" : id)}
        choices={USUAL}
        {...(usual && { hint: "The last response repeats." })}
      />
      {!usual && (
        <Field
          label="Custom responses"
          name="answers"
          value={value}
          onChange={onChange}
          hint="Comma-separated: 500, 200 after 1s, hang, reset. The last one repeats."
          required
        />
      )}
    </>
  );
}
