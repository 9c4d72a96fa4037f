import { useCallback, useState } from "react";
import { type Fields, type FormField, textOf, valueIn } from "../../api/form-fields.ts";
import { notJson } from "../../api/typed-json.ts";

/** What was typed into a form and is not saved. */
interface Typed {
  /** Per field that was touched: what stands in it. */
  texts: Readonly<Record<string, string>>;
  /** Of those, the values that could be read; besides, what was typed into the JSON. */
  values: Fields;
  /** The JSON as it was typed, as long as nothing else was. */
  json: string | undefined;
}

const UNTOUCHED: Typed = { texts: {}, values: {}, json: undefined };

/** By address of the record: whoever looks elsewhere finds what was typed when coming back. */
const KEPT = new Map<string, Typed>();

export interface Draft {
  touched: boolean;
  /** The fields that differ from the record. @throws ControlError at the first, or the whole, that is no JSON */
  changes(fields: readonly FormField[]): Fields;
  text(field: FormField): string;
  /** The same function as long as it is the same draft, so that no field is drawn for what is typed into another. */
  type: (field: FormField, text: string) => void;
  json: string;
  typeJson(text: string): void;
  discard(): void;
}

export function useDraft(key: string, record: Fields): Draft {
  const [typed, setTyped] = useState(() => KEPT.get(key) ?? UNTOUCHED);
  const keep = useCallback(
    (change: (before: Typed) => Typed) => {
      const next = change(KEPT.get(key) ?? UNTOUCHED);
      if (next === UNTOUCHED) KEPT.delete(key);
      else KEPT.set(key, next);
      setTyped(next);
    },
    [key],
  );
  const type = useCallback(
    (field: FormField, text: string) => keep((before) => withField(before, field, text)),
    [keep],
  );
  return {
    touched: typed !== UNTOUCHED,
    changes: (fields) => {
      requireReadable(typed, fields);
      return typed.values;
    },
    text: (field) => typed.texts[field.name] ?? textOf({ ...record, ...typed.values }[field.name], field),
    type,
    json: typed.json ?? JSON.stringify({ ...record, ...typed.values }, null, 2),
    typeJson: (text) => keep((before) => withJson(before, text, record)),
    discard: () => keep(() => UNTOUCHED),
  };
}

function withField({ texts, values }: Typed, field: FormField, text: string): Typed {
  const next = { texts: { ...texts, [field.name]: text }, json: undefined };
  try {
    return { ...next, values: { ...values, [field.name]: valueIn(text, field) } };
  } catch {
    return { ...next, values };
  }
}

/** While it is no JSON, the fields show what they did. */
function withJson({ texts, values }: Typed, json: string, record: Fields): Typed {
  const whole = objectIn(json);
  if (whole === undefined) return { texts, values, json };
  const differing = Object.entries(whole).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(record[name]),
  );
  return { texts: {}, values: Object.fromEntries(differing), json };
}

/** @throws ControlError */
function requireReadable({ texts, json }: Typed, fields: readonly FormField[]): void {
  if (json !== undefined && objectIn(json) === undefined) throw notJson("json", "The JSON");
  for (const field of fields) {
    const text = texts[field.name];
    if (text === undefined || field.kind !== "json") continue;
    try {
      valueIn(text, field);
    } catch {
      throw notJson(field.name, field.name);
    }
  }
}

function objectIn(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Fields)
      : undefined;
  } catch {
    return undefined;
  }
}
