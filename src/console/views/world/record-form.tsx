import { Checkbox } from "react-aria-components";
import type { FormField } from "../../api/form-fields.ts";
import { Field, Form } from "../../parts/form.tsx";
import { linesOf, TypedField } from "../../parts/typed-field.tsx";
import type { Draft } from "./draft.ts";

const MAX_JSON_LINES = 30;

interface RecordFormProps {
  fields: readonly FormField[];
  draft: Draft;
  submit: string;
  onSubmit: () => void;
  pending: boolean;
  error: unknown;
  quietly: boolean;
  onQuietly: (quietly: boolean) => void;
  onCancel?: (() => void) | undefined;
}

/** A form made from the schema of a record, and the record as JSON beside it: two ways to type the same. */
export function RecordForm(props: RecordFormProps) {
  const { fields, draft, quietly, onQuietly } = props;
  return (
    <Form
      submit={props.submit}
      pending={props.pending}
      error={props.error}
      onSubmit={props.onSubmit}
      onCancel={props.onCancel}
    >
      <div className="record">
        <div className="form">
          {fields.map((field) => (
            <TypedField key={field.name} field={field} value={draft.text(field)} onType={draft.type} />
          ))}
        </div>
        <Field
          label="JSON"
          name="json"
          value={draft.json}
          onChange={draft.typeJson}
          lines={Math.max(8, Math.min(MAX_JSON_LINES, linesOf(draft.json) + 1))}
          hint="The same as the form; a field that is left out stays as it is."
        />
      </div>
      <Checkbox className="check" isSelected={quietly} onChange={onQuietly}>
        <span className="check-box" aria-hidden="true" />
        Quietly: no events, no audit entries
      </Checkbox>
    </Form>
  );
}
