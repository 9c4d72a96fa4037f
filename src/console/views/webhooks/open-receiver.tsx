import { useState } from "react";
import { useParameters } from "../../address.ts";
import { useSandboxChange } from "../../api/queries.ts";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { answersIn } from "./answers.ts";
import { AnswersField } from "./answers-field.tsx";

export function OpenReceiver({ onClose }: { onClose: () => void }) {
  const { set } = useParameters();
  const [answers, setAnswers] = useState("200");
  const [secret, setSecret] = useState("");
  const open = useSandboxChange(async (calls, _: undefined) =>
    calls.openReceiver({ answers: answersIn(answers), ...(secret.trim() && { secret: secret.trim() }) }),
  );
  return (
    <DetailPane title="Open a receiver" label="Open a receiver" onClose={onClose}>
      <Form
        submit="Open it"
        pending={open.isPending}
        error={open.error}
        onSubmit={() =>
          open.mutate(undefined, { onSuccess: ({ id }) => set({ receiver: id, open: undefined }) })
        }
      >
        <AnswersField value={answers} onChange={setAnswers} />
        <Field
          label="Secret"
          name="secret"
          value={secret}
          onChange={setSecret}
          placeholder="whsec_…"
          hint="To verify with. Left empty, that of the webhook which the payload names."
        />
      </Form>
    </DetailPane>
  );
}
