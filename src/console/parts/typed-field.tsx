import { memo, useMemo } from "react";
import type { FormField } from "../api/form-fields.ts";
import { ChoiceField, Field } from "./form.tsx";
import { MarkField } from "./mark-field.tsx";

const LONG = 60;
const MAX_LINES = 12;

/** A field of the kind that its schema asks for. Drawn anew for what is typed into it alone: some hold a long list. */
export const TypedField = memo(function TypedField({
  field,
  value,
  onType,
  within = "",
  optional = false,
}: {
  field: FormField;
  value: string;
  /** The same function each time. */
  onType: (field: FormField, text: string) => void;
  /** How problems call the object that it is a field of, such as `data.`. */
  within?: string;
  /** Whether it may be left out altogether. */
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
  const marked = kind === "json" && field.choices.length > 0 ? listIn(value) : undefined;
  if (marked) {
    return (
      <ListField
        field={field}
        chosen={marked}
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
      {...(lines && { lines: Math.max(2, Math.min(MAX_LINES, linesOf(value))) })}
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
    <MarkField
      label={name}
      listLabel={name}
      find={`Find in ${name}`}
      choices={choices}
      chosen={chosen}
      onChange={onChange}
    />
  );
}

/** Undefined where something else stands there, which is then typed as it is. */
function listIn(text: string): ReadonlySet<string> | undefined {
  if (text.trim() === "") return new Set();
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? new Set(value.map(String)) : undefined;
  } catch {
    return undefined;
  }
}

const NULL = "null";
const LEFT_OUT = { id: "", title: "left out" };

/** How many lines a text takes, about. */
export function linesOf(text: string): number {
  return text.split("\n").reduce((sum, line) => sum + Math.ceil((line.length + 1) / LONG), 0);
}
