import { Checkbox } from "react-aria-components";
import { ChoiceField, Field, Form } from "../../parts/form.tsx";
import type { Draft } from "./draft.ts";
import type { RecordField } from "./record-fields.ts";

const LONG = 60;
const MAX_LINES = 12;
const MAX_JSON_LINES = 30;

interface RecordFormProps {
  fields: readonly RecordField[];
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
            <TypedField
              key={field.name}
              field={field}
              value={draft.text(field)}
              onChange={(text) => draft.type(field, text)}
            />
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

function TypedField({
  field,
  value,
  onChange,
}: {
  field: RecordField;
  value: string;
  onChange: (text: string) => void;
}) {
  const { name, kind, nullable, hint } = field;
  if (kind === "choice" || kind === "yesno") {
    const words = kind === "yesno" ? ["true", "false"] : field.choices;
    const choices = words.map((id) => ({ id, title: id }));
    return (
      <ChoiceField
        label={name}
        name={name}
        value={nullable && value === "" ? NULL : value}
        onChange={(id) => onChange(id === NULL ? "" : id)}
        choices={nullable ? [...choices, { id: NULL, title: NULL }] : choices}
      />
    );
  }
  const lines = kind === "json" || value.length > LONG || value.includes("\n");
  return (
    <Field
      label={name}
      name={name}
      value={value}
      onChange={onChange}
      hint={hint}
      {...(lines && { lines: Math.max(2, Math.min(MAX_LINES, linesOf(value))) })}
    />
  );
}

const NULL = "null";

/** How many lines a text takes, about. */
function linesOf(text: string): number {
  return text.split("\n").reduce((sum, line) => sum + Math.ceil((line.length + 1) / LONG), 0);
}
