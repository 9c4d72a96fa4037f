import { useState } from "react";
import { useSandboxName } from "../../address.ts";
import type { Fields, FormField } from "../../api/form-fields.ts";
import { useSandboxChange } from "../../api/queries.ts";
import type { CollectionName } from "../../api/types.ts";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { useDraft } from "./draft.ts";
import { RecordForm } from "./record-form.tsx";

const NOTHING: Fields = {};

/** What is not typed is filled in by the server, with plausible values from the sandbox's seed. */
export function NewRecord({
  collection,
  idField,
  fields,
  onClose,
  onMade,
}: {
  collection: CollectionName;
  idField: string;
  fields: readonly FormField[];
  onClose: () => void;
  onMade: (id: string) => void;
}) {
  const draft = useDraft(`${useSandboxName()}/${collection}/`, NOTHING);
  const [quietly, setQuietly] = useState(false);
  const add = useSandboxChange(async (calls, _: undefined) =>
    calls.addRecord(collection, given(draft.changes(fields)), { silent: quietly }),
  );
  const submit = () =>
    add.mutate(undefined, {
      onSuccess: (made) => {
        draft.discard();
        onMade(String((made as unknown as Fields)[idField]));
      },
    });
  return (
    <DetailPane title={`New in ${collection}`} label="New record" onClose={onClose}>
      <p className="quiet new-record">What stays empty is filled in from the sandbox’s seed.</p>
      <RecordForm
        fields={fields}
        draft={draft}
        submit="Create"
        onSubmit={submit}
        pending={add.isPending}
        error={add.error}
        quietly={quietly}
        onQuietly={setQuietly}
      />
    </DetailPane>
  );
}

/** A field that was emptied again is not given. */
function given(changes: Fields): Fields {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== "" && value !== null));
}
