import { useState } from "react";
import { Button } from "react-aria-components";
import type { CollectionName } from "../../../../types/control-api.ts";
import { useSandboxName } from "../../address.ts";
import type { Fields, FormField } from "../../api/form-fields.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { Confirm } from "../../components/dialog.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { LoadError, Notice } from "../../components/notice.tsx";
import { CopyButton, singularName } from "../../components/text.tsx";
import { RecordForm, useDraft } from "./record-form.tsx";

interface RecordPaneProps {
  collection: CollectionName;
  id: string;
  fields: readonly FormField[];
  onClose: () => void;
}

/** Shows, edits and deletes a record. */
export function RecordPane(props: RecordPaneProps) {
  const { collection, id } = props;
  const query = useSandboxQuery(["record", collection, id], (calls) => calls.record(collection, id));
  const [deleting, setDeleting] = useState(false);
  return (
    <DetailPane
      title={<span className="mono">{id}</span>}
      label={`Record ${id}`}
      onClose={props.onClose}
      actions={
        query.data && (
          <>
            <CopyButton text={() => JSON.stringify(query.data, null, 2)} label="Copy as JSON" />
            <Button className="button danger" onPress={() => setDeleting(true)}>
              Delete …
            </Button>
          </>
        )
      }
    >
      <LoadError error={query.error} />
      {query.data && <EditRecord {...props} record={query.data as unknown as Fields} />}
      {deleting && <DeleteRecord {...props} onDone={() => setDeleting(false)} />}
    </DetailPane>
  );
}

function EditRecord({ collection, id, fields, record }: RecordPaneProps & { record: Fields }) {
  const sandbox = useSandboxName();
  const draft = useDraft(`${sandbox}/${collection}/${id}`, record);
  const [quietly, setQuietly] = useState(false);
  const save = useSandboxChange(async (calls, _: undefined) =>
    calls.changeRecord(collection, id, draft.changes(fields), { silent: quietly }),
  );
  return (
    <>
      {save.isSuccess && !draft.touched && <Notice outcome="ok">Saved.</Notice>}
      <RecordForm
        fields={fields}
        draft={draft}
        submit="Save"
        onSubmit={() => save.mutate(undefined, { onSuccess: draft.discard })}
        pending={save.isPending}
        error={save.error}
        quietly={quietly}
        onQuietly={setQuietly}
        onCancel={
          draft.touched
            ? () => {
                draft.discard();
                save.reset();
              }
            : undefined
        }
      />
    </>
  );
}

function DeleteRecord({ collection, id, onClose, onDone }: RecordPaneProps & { onDone: () => void }) {
  const remove = useSandboxChange(async (calls, _: undefined) => {
    await calls.removeRecord(collection, id);
    // Close before the queries refetch: this record no longer exists.
    onClose();
  });
  return (
    <Confirm
      title={`Delete ${id}?`}
      verb="Delete"
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onClose={onDone}
    >
      <p>
        Also deletes its dependent records, timers and queued deliveries. To undo this, rewind in the
        timeline.
      </p>
    </Confirm>
  );
}

const NOTHING: Fields = {};

/** The server fills empty fields with values generated from the seed. */
export function NewRecord({
  collection,
  idField,
  fields,
  onClose,
  onCreated,
}: {
  collection: CollectionName;
  idField: string;
  fields: readonly FormField[];
  onClose: () => void;
  onCreated: (id: string) => void;
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
        onCreated(String((made as unknown as Fields)[idField]));
      },
    });
  return (
    <DetailPane title={`New ${singularName(collection)}`} label="New record" onClose={onClose}>
      <p className="quiet new-record">Empty fields are generated from the sandbox’s seed.</p>
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

/** Leaves out empty fields. */
function given(changes: Fields): Fields {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== "" && value !== null));
}
