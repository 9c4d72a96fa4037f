import { type ComponentProps, useCallback, useState } from "react";
import { tryParseJson } from "../../../engine/contract/text.ts";
import { getOwn } from "../../../engine/maps.ts";
import { type Fields, type FormField, formatValue, parseValue, toInputError } from "../../api/form-fields.ts";
import { Field, Form } from "../../components/form.tsx";
import { estimateLines, TypedField } from "../../components/typed-field.tsx";

const MAX_JSON_LINES = 30;

type RecordFormProps<T> = Omit<ComponentProps<typeof Form<T>>, "children"> & {
  fields: readonly FormField[];
  draft: Draft;
  isNew?: boolean;
};

export function RecordForm<T>({ fields, draft, isNew = false, ...form }: RecordFormProps<T>) {
  return (
    <Form {...form}>
      {isNew && <p className="quiet">Empty fields are generated from the sandbox’s seed.</p>}
      <div className="record">
        <div className="stack">
          {fields.map((field) => (
            <TypedField
              key={field.name}
              field={field}
              value={draft.getText(field)}
              onType={draft.changeText}
              isOptional={isNew}
            />
          ))}
        </div>
        <Field
          label="JSON"
          name="json"
          value={draft.json}
          onChange={draft.changeJson}
          lines={Math.max(8, Math.min(MAX_JSON_LINES, estimateLines(draft.json) + 1))}
          hint={isNew ? "Same as the form." : "Same as the form. Omitted fields do not change."}
        />
      </div>
      <label>
        <input type="checkbox" checked={draft.isSilent} onChange={() => draft.setSilent(!draft.isSilent)} />{" "}
        Don’t emit events or audit entries
      </label>
    </Form>
  );
}

interface FormState {
  texts: Readonly<Record<string, string>>;
  /** Parsed values of edited fields, and values from the JSON. */
  values: Fields;
  /** The JSON as typed, until a field is edited. */
  json: string | undefined;
}

const UNTOUCHED: FormState = { texts: {}, values: {}, json: undefined };

/** Drafts by record, kept while the user visits other pages. */
const DRAFTS = new Map<string, FormState>();

type Draft = ReturnType<typeof useDraft>;

export function useDraft(key: string, record: Fields) {
  const [state, setState] = useState(() => DRAFTS.get(key) ?? UNTOUCHED);
  const [isSilent, setSilent] = useState(false);
  const changeState = useCallback(
    (change: (before: FormState) => FormState) => {
      const next = change(DRAFTS.get(key) ?? UNTOUCHED);
      if (next === UNTOUCHED) DRAFTS.delete(key);
      else DRAFTS.set(key, next);
      setState(next);
    },
    [key],
  );
  const changeText = useCallback(
    (field: FormField, text: string) => changeState((before) => applyField(before, field, text, record)),
    [changeState, record],
  );
  const edited: Fields = { ...record, ...state.values };
  return {
    isTouched: state !== UNTOUCHED,
    /** Returns the changed fields. @throws ControlError for invalid JSON, or an invalid field */
    readChanges: (fields: readonly FormField[]): Fields => {
      requireValidInput(state, fields);
      return state.values;
    },
    getText: (field: FormField) =>
      getOwn(state.texts, field.name) ?? formatValue(getOwn(edited, field.name), field),
    changeText,
    json: state.json ?? JSON.stringify(edited, null, 2),
    changeJson: (text: string) => changeState((before) => applyJson(before, text, record)),
    discard: () => changeState(() => UNTOUCHED),
    /** Keeps what was typed since this draft was rendered. */
    discardUnlessEdited: () => changeState((now) => (now === state ? UNTOUCHED : now)),
    isSilent,
    setSilent,
  };
}

function applyField(before: FormState, field: FormField, text: string, record: Fields): FormState {
  const { [field.name]: _, ...others } = before.values;
  const next = { texts: { ...before.texts, [field.name]: text }, json: undefined };
  // An emptied field that the record lacks is left out again.
  if (text.trim() === "" && getOwn(record, field.name) === undefined) return { ...next, values: others };
  const { values } = before;
  try {
    return { ...next, values: { ...values, [field.name]: parseValue(text, field) } };
  } catch {
    return { ...next, values };
  }
}

/** The fields keep their values while the JSON is invalid. */
function applyJson({ texts, values }: FormState, json: string, record: Fields): FormState {
  const parsed = parseObject(json);
  if (parsed === undefined) return { texts, values, json };
  const differing = Object.entries(parsed).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(getOwn(record, name)),
  );
  return { texts: {}, values: Object.fromEntries(differing), json };
}

/** @throws ControlError */
function requireValidInput({ texts, json }: FormState, fields: readonly FormField[]): void {
  if (json !== undefined && parseObject(json) === undefined)
    throw toInputError("json", "This is not a JSON object. Nothing was sent.");
  for (const field of fields) {
    const text = getOwn(texts, field.name);
    if (text !== undefined) parseValue(text, field);
  }
}

function parseObject(text: string): Fields | undefined {
  const value = tryParseJson(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
