import { useMemo, useState } from "react";
import type { Settings, SettingsChange } from "../../../../types/control-api.ts";
import { createSandboxCalls } from "../../api/calls.ts";
import { type FormField, formatValue, listFormFields, parseValue } from "../../api/form-fields.ts";
import type { ControlDescription } from "../../api/open-api.ts";
import { useChange, useControlDescription } from "../../api/queries.ts";
import { FilterField, Form, useInputs } from "../../components/form.tsx";
import { Notice, Problem } from "../../components/status.tsx";
import { containsWords } from "../../components/text.tsx";
import { TypedField } from "../../components/typed-field.tsx";

type Name = keyof Settings;

const LIMITS: readonly Name[] = ["journal_limit", "history_limit"];

/** Changes settings of a sandbox; those that are not touched stay as they are. */
export function SettingsForm(props: { name: string; settings: Settings; onClose: () => void }) {
  const { name, settings, onClose } = props;
  const { data: description, error } = useControlDescription();
  const fields = useMemo(() => (description ? listSettingFields(description) : []), [description]);
  const { inputs: texts, onType } = useInputs<string>({});
  const [find, setFind] = useState("");
  const calls = createSandboxCalls(name);
  const save = useChange(
    async () => {
      const change = readChange(fields, texts, settings);
      if (Object.keys(change).length > 0) await calls.configure(change);
      return { change, before: settings };
    },
    {
      confirmation: ({ change }) => describeChangedSettings(change),
      undo: ({ change, before }) => calls.configure(pick(before, change)),
    },
  );
  const loweredLimits = LIMITS.filter(
    (limit) => Number(texts[limit] ?? settings[limit]) < Number(settings[limit]),
  );
  return (
    <Form
      submit="Save settings"
      change={save}
      onSuccess={onClose}
      onCancel={onClose}
      isWaiting={!description}
    >
      <Problem error={error} />
      <FilterField label="Find a setting" placeholder="Find a setting" value={find} onChange={setFind} />
      {fields
        .filter((field) => containsWords(`${field.name} ${field.hint}`, find))
        .map((field) => (
          <TypedField
            key={field.name}
            field={field}
            prefix="settings."
            value={texts[field.name] ?? formatValue(settings[field.name as Name], field)}
            onType={onType}
          />
        ))}
      {loweredLimits.length > 0 && (
        <Notice outcome="refused">
          Lowering {loweredLimits.join(" and ")} deletes the oldest entries. Undo does not restore them.
        </Notice>
      )}
    </Form>
  );
}

function listSettingFields({ components }: ControlDescription): FormField[] {
  const schema = components.schemas["SettingsInput"] ?? {};
  return listFormFields(schema, components).map((field) => {
    const initial = schema.properties?.[field.name]?.default;
    return {
      ...field,
      // `true` and `false` are other words for on and off.
      choices: field.choices.includes("on") ? ["on", "off"] : field.choices,
      hint: `${field.hint}; by default ${typeof initial === "string" ? initial : JSON.stringify(initial)}`,
    };
  });
}

/** The server refuses other invalid values. @throws ControlError for invalid JSON */
function readChange(
  fields: readonly FormField[],
  texts: Readonly<Record<string, string>>,
  settings: Settings,
): SettingsChange {
  const typedFields = fields.filter(({ name }) => texts[name] !== undefined);
  const values = typedFields.map((field) => [field.name, parseValue(texts[field.name]!, field, "settings.")]);
  return Object.fromEntries(
    values.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(settings[name as Name])),
  );
}

function describeChangedSettings(change: SettingsChange): string | undefined {
  const changes = Object.entries(change).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return changes.length > 0 ? `Changed ${changes.join(", ")}.` : undefined;
}

function pick(settings: Settings, change: SettingsChange): SettingsChange {
  return Object.fromEntries(Object.keys(change).map((name) => [name, settings[name as Name]]));
}
