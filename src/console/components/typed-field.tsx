import { memo, useMemo, useState } from "react";
import { ListBox } from "react-aria-components";
import { tryParseJson } from "../../engine/contract/text.ts";
import { type FormField, NULL_CHOICE, toChoiceValue } from "../api/form-fields.ts";
import { type Choice, ChoiceField, ChoiceItem, Field, FilterField } from "./form.tsx";
import { containsWords } from "./text.tsx";

const LINE_LENGTH = 60;
const MAX_LINES = 12;
const NOT_SET = { id: "", title: "(empty)" };

interface TypedFieldProps {
  field: FormField;
  value: string;
  /** Must be the same function in every render. */
  onType: (field: FormField, text: string) => void;
  /** Prefix of the field's name in errors, such as `data.`. */
  prefix?: string;
  /** The field may be omitted: an empty text is not sent. */
  isOptional?: boolean;
}

/** The form field for a schema property. Memoized, since some fields contain long lists. */
export const TypedField = memo(function TypedField(props: TypedFieldProps) {
  const { field, value, onType, prefix = "", isOptional = false } = props;
  const { name, kind, isNullable, hint } = field;
  const onChange = (text: string) => onType(field, text);
  // It stays long: another kind of input would lose the focus while the user types.
  const [isLong, setIsLong] = useState(kind === "json" || value.length > LINE_LENGTH);
  if (!isLong && value.includes("\n")) setIsLong(true);
  if (kind === "choice" || kind === "yesno") {
    const words = kind === "yesno" ? ["true", "false"] : field.choices;
    return (
      <ChoiceField
        label={name}
        name={prefix + name}
        hint={hint}
        value={value}
        onChange={onChange}
        choices={[
          ...(isOptional ? [NOT_SET] : []),
          ...[...words, ...(isNullable ? [NULL_CHOICE] : [])].map((id) => ({ id, title: id })),
        ]}
      />
    );
  }
  const chosen = kind === "json" && field.choices.length > 0 ? parseList(value) : undefined;
  if (chosen) {
    return (
      <ListField
        field={field}
        chosen={chosen}
        onChange={(next) => {
          const values = [...next].map((id) => toChoiceValue(id, field));
          onChange(values.length === 0 && isOptional ? "" : JSON.stringify(values));
        }}
      />
    );
  }
  const lines = isLong ? Math.max(2, Math.min(MAX_LINES, estimateLines(value))) : 0;
  return (
    <Field
      label={name}
      name={prefix + name}
      value={value}
      onChange={onChange}
      hint={[hint, isNullable && !isOptional && "empty means null"].filter(Boolean).join("; ") || undefined}
      lines={lines}
    />
  );
});

type ListProps = Pick<MultiSelectProps, "chosen" | "onChange"> & { field: FormField };

function ListField({ field: { name, choices: ids }, ...selection }: ListProps) {
  const choices = useMemo(() => ids.map((id) => ({ id, title: id })), [ids]);
  return <MultiSelect label={name} findPrompt={`Find in ${name}`} choices={choices} {...selection} />;
}

/** Undefined if the text is not a list; it is then edited as text. */
function parseList(text: string): ReadonlySet<string> | undefined {
  const value = text.trim() === "" ? [] : tryParseJson(text);
  return Array.isArray(value) ? new Set(value.map(String)) : undefined;
}

export function estimateLines(text: string): number {
  return text.split("\n").reduce((sum, line) => sum + Math.ceil((line.length + 1) / LINE_LENGTH), 0);
}

interface MultiSelectProps {
  label: string;
  /** Accessible name of the list; the label by default. */
  listLabel?: string;
  findPrompt: string;
  /** Undefined while loading. Keep the array's identity while it does not change. */
  choices: readonly Choice[] | undefined;
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}

/**
 * Selects any number of items of a list that can be filtered by text. Memoized: lists have hundreds of items, and the form
 * around them renders with every keystroke.
 */
export const MultiSelect = memo(function MultiSelect(props: MultiSelectProps) {
  const { label, listLabel = label, findPrompt, choices, chosen, onChange } = props;
  const [typed, setTyped] = useState("");
  const items = useMemo(
    () => choices?.filter(({ title, detail = "" }) => containsWords(`${title} ${detail}`, typed)) ?? [],
    [choices, typed],
  );
  return (
    <section className="field" aria-label={label}>
      <span className="field-name">
        {label} {chosen.size > 0 && <span className="quiet">{[...chosen].join(", ")}</span>}
      </span>
      <FilterField label={findPrompt} placeholder={findPrompt} value={typed} onChange={setTyped} />
      <ListBox
        className="choices marked-choices panel"
        aria-label={listLabel}
        selectionMode="multiple"
        items={items}
        selectedKeys={chosen}
        escapeKeyBehavior="none"
        onSelectionChange={(keys) =>
          onChange(
            new Set(keys === "all" ? [...chosen, ...items.map(({ id }) => id)] : [...keys].map(String)),
          )
        }
        renderEmptyState={() => (
          <p className="quiet">{choices === undefined ? "Loading …" : "No matches."}</p>
        )}
      >
        {ChoiceItem}
      </ListBox>
    </section>
  );
});
