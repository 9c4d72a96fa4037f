import { ChoiceField, Field } from "../../parts/form.tsx";
import { TYPED, USUAL } from "./answers.ts";

/** How a receiver answers: by one of the usual ways, or typed. */
export function AnswersField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const usual = USUAL.some(({ id }) => id === value && id !== TYPED);
  return (
    <>
      <ChoiceField
        label="It answers"
        name={usual ? "answers" : ""}
        value={usual ? value : TYPED}
        onChange={(id) => onChange(id === TYPED ? "500, 200 after 1s" : id)}
        choices={USUAL}
        {...(usual && { hint: "The last answer repeats." })}
      />
      {!usual && (
        <Field
          label="Answers, in their order"
          name="answers"
          value={value}
          onChange={onChange}
          hint="Statuses, a status after a delay, hang, reset; with commas between. The last one repeats."
          required
        />
      )}
    </>
  );
}
