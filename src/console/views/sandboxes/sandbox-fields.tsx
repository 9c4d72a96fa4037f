import { useMemo } from "react";
import type { SandboxOptions, SandboxState } from "../../../../types/control-api.ts";
import { parsedJson } from "../../api/form-fields.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { ChoiceField, Field } from "../../components/form.tsx";
import { MultiSelect } from "../../components/multi-select.tsx";

/** The name of a fixture, or a document typed as JSON. */
export interface FixtureDraft {
  choice: string;
  document: string;
}

const SAME = "";
const DOCUMENT = "{}";
/** Fixture name of sandboxes that were created from a document. */
const INLINE = "inline";

export const NO_FIXTURE: FixtureDraft = { choice: SAME, document: '{\n  "extends": "reference"\n}' };

/** Selects a fixture that this server already uses, or a document. */
export function FixtureField({
  draft,
  onChange,
  known,
  same,
}: {
  draft: FixtureDraft;
  onChange: (draft: FixtureDraft) => void;
  known: readonly SandboxState[];
  /** Title of the default choice. */
  same: string;
}) {
  const names = new Set(["reference", ...known.map(({ fixture }) => fixture)]);
  names.delete(INLINE);
  return (
    <>
      <ChoiceField
        label="Fixture"
        name={draft.choice === DOCUMENT ? "" : "fixture"}
        value={draft.choice}
        onChange={(choice) => onChange({ ...draft, choice })}
        choices={[
          { id: SAME, title: same },
          ...[...names].map((id) => ({ id, title: id })),
          { id: DOCUMENT, title: "Custom", detail: "as JSON" },
        ]}
      />
      {draft.choice === DOCUMENT && (
        <Field
          label="Fixture as JSON"
          name="fixture"
          value={draft.document}
          onChange={(document) => onChange({ ...draft, document })}
          lines={8}
          hint="Collections as lists of records; a number instead of a list generates that many."
        />
      )}
    </>
  );
}

/** @throws ControlError for invalid JSON */
export function toFixture({ choice, document }: FixtureDraft): Pick<SandboxOptions, "fixture"> {
  if (choice === SAME) return {};
  return { fixture: choice === DOCUMENT ? parsedJson(document, "fixture") : choice } as never;
}

/** Scenarios that are active from the start. */
export function ScenariosField({
  chosen,
  onChange,
}: {
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}) {
  const { data } = useSandboxQuery(["scenarios"], (calls) => calls.scenarios());
  const choices = useMemo(
    () =>
      data?.items
        .filter(({ problem }) => problem === undefined)
        .map(({ name, description }) => ({ id: name, title: name, detail: description })),
    [data],
  );
  return (
    <MultiSelect
      label="Scenarios"
      listLabel="Scenarios active from the start"
      find="Filter scenarios"
      choices={choices}
      chosen={chosen}
      onChange={onChange}
    />
  );
}
