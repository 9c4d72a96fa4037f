import { parsedJson } from "../../api/typed-json.ts";
import type { SandboxOptions, SandboxState } from "../../api/types.ts";
import { ChoiceField, Field } from "../../parts/form.tsx";

/** What stands in the two fields: the name of a fixture, or a document of one's own. */
export interface FixtureDraft {
  choice: string;
  document: string;
}

const SAME = "";
const DOCUMENT = "{}";
/** What a sandbox says whose fixture was sent as a document. */
const INLINE = "inline";

export const NO_FIXTURE: FixtureDraft = { choice: SAME, document: '{\n  "extends": "reference"\n}' };

/** Which world it begins with: one that this server uses already, or one that is typed. */
export function FixtureField({
  draft,
  onChange,
  known,
  same,
}: {
  draft: FixtureDraft;
  onChange: (draft: FixtureDraft) => void;
  known: readonly SandboxState[];
  /** What it is where nothing is chosen, such as "As the server was started". */
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
          { id: DOCUMENT, title: "A document", detail: "typed as JSON" },
        ]}
      />
      {draft.choice === DOCUMENT && (
        <Field
          label="The fixture as JSON"
          name="fixture"
          value={draft.document}
          onChange={(document) => onChange({ ...draft, document })}
          lines={8}
          hint="An organization by id, and lists of records; a number where a list belongs asks for that many."
        />
      )}
    </>
  );
}

/** @throws ControlError at the field where the document is no JSON */
export function fixtureOf({ choice, document }: FixtureDraft): Pick<SandboxOptions, "fixture"> {
  if (choice === SAME) return {};
  return { fixture: choice === DOCUMENT ? parsedJson(document, "fixture") : choice } as never;
}
