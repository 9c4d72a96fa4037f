import { memo, useMemo } from "react";
import type { FormField } from "../api/form-fields.ts";
import { ChoiceField, Field } from "./form.tsx";
import { MultiSelect } from "./multi-select.tsx";

const LONG = 60;
const MAX_LINES = 12;

/** The form field for a schema property. Memoized, since some fields contain long lists. */
export const TypedField = memo(function TypedField({
  field,
  value,
  onType,
  within = "",
  optional = false,
}: {
  field: FormField;
  value: string;
  /** Must keep its identity. */
  onType: (field: FormField, text: string) => void;
  /** Prefix of the field's name in errors, such as `data.`. */
  within?: string;
  /** The field may be omitted. */
  optional?: boolean;
}) {
  const { name, kind, nullable, hint } = field;
  const onChange = (text: string) => onType(field, text);
  if (kind === "choice" || kind === "yesno") {
    const words = kind === "yesno" ? ["true", "false"] : field.choices;
    const choices = words.map((id) => ({ id, title: id }));
    return (
      <ChoiceField
        label={name}
        name={within + name}
        value={nullable && value === "" && !optional ? NULL : value}
        onChange={(id) => onChange(id === NULL ? "" : id)}
        choices={[
          ...(optional ? [LEFT_OUT] : []),
          ...choices,
          ...(nullable ? [{ id: NULL, title: NULL }] : []),
        ]}
      />
    );
  }
  const selected = kind === "json" && field.choices.length > 0 ? parseList(value) : undefined;
  if (selected) {
    return (
      <ListField
        field={field}
        chosen={selected}
        onChange={(chosen) => onChange(chosen.size === 0 && optional ? "" : JSON.stringify([...chosen]))}
      />
    );
  }
  const lines = kind === "json" || value.length > LONG || value.includes("\n");
  return (
    <Field
      label={name}
      name={within + name}
      value={value}
      onChange={onChange}
      hint={hint}
      {...(lines && { lines: Math.max(2, Math.min(MAX_LINES, countLines(value))) })}
    />
  );
});

function ListField({
  field: { name, choices: ids },
  chosen,
  onChange,
}: {
  field: FormField;
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}) {
  const choices = useMemo(() => ids.map((id) => ({ id, title: id })), [ids]);
  return (
    <MultiSelect
      label={name}
      listLabel={name}
      find={`Find in ${name}`}
      choices={choices}
      chosen={chosen}
      onChange={onChange}
    />
  );
}

/** Undefined if the text is not a list; it is then edited as text. */
function parseList(text: string): ReadonlySet<string> | undefined {
  if (text.trim() === "") return new Set();
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? new Set(value.map(String)) : undefined;
  } catch {
    return undefined;
  }
}

const NULL = "null";
const LEFT_OUT = { id: "", title: "(not set)" };

/** Estimated number of lines. */
export function countLines(text: string): number {
  return text.split("\n").reduce((sum, line) => sum + Math.ceil((line.length + 1) / LONG), 0);
}
