import type { CollectionName } from "../../../../types/control-api.ts";
import { useSandboxName } from "../../address.ts";
import type { Fields, FormField } from "../../api/form-fields.ts";
import { useRecord, useSandboxChange } from "../../api/queries.ts";
import { ConfirmButton } from "../../components/button.tsx";
import { DetailPane } from "../../components/layout.tsx";
import { LoadError, NotFound } from "../../components/status.tsx";
import { CopyButton, toSingularName } from "../../components/text.tsx";
import { RecordForm, useDraft } from "./record-form.tsx";

interface PaneProps {
  collection: CollectionName;
  fields: readonly FormField[];
  onClose: () => void;
}

export function RecordPane(props: PaneProps & { id: string }) {
  const { collection, id, onClose } = props;
  const remove = useSandboxChange(
    async (calls) => {
      await calls.removeRecord(collection, id);
      // Close before the queries refetch: this record no longer exists.
      onClose();
    },
    { confirmation: `Deleted ${id}.` },
  );
  // The live stream may report the deletion before its call has ended.
  const query = useRecord(collection, id, { enabled: !remove.isPending });
  return (
    <DetailPane
      title={<span className="mono">{id}</span>}
      label={`Record ${id}`}
      onClose={onClose}
      actions={
        query.data && (
          <>
            <CopyButton text={() => JSON.stringify(query.data, null, 2)} label="Copy as JSON" />
            <ConfirmButton title={`Delete ${id}?`} verb="Delete" change={remove}>
              Also deletes its dependent records, timers and queued deliveries.
            </ConfirmButton>
          </>
        )
      }
    >
      {query.error?.status === 404 ? (
        <NotFound kind={toSingularName(collection)} id={id} />
      ) : (
        <LoadError error={query.error} />
      )}
      {query.data && <EditRecord {...props} record={query.data as unknown as Fields} />}
    </DetailPane>
  );
}

function EditRecord({ collection, id, fields, record }: PaneProps & { id: string; record: Fields }) {
  const sandbox = useSandboxName();
  const draft = useDraft(`${sandbox}/${collection}/${id}`, record);
  const save = useSandboxChange(
    async (calls) =>
      calls.changeRecord(collection, id, draft.readChanges(fields), { silent: draft.isSilent }),
    { confirmation: `Saved ${id}.` },
  );
  const cancel = () => {
    draft.discard();
    save.reset();
  };
  return (
    <RecordForm
      fields={fields}
      draft={draft}
      submit="Save"
      change={save}
      onSuccess={draft.discardUnlessEdited}
      onCancel={draft.isTouched ? cancel : undefined}
    />
  );
}

const NOTHING: Fields = {};

/** The server fills empty fields with values generated from the seed. */
export function NewRecord(props: PaneProps & { idField: string; onCreated: (id: string) => void }) {
  const { collection, idField, fields, onClose, onCreated } = props;
  const draft = useDraft(`${useSandboxName()}/${collection}/`, NOTHING);
  const add = useSandboxChange(
    async (calls) => calls.addRecord(collection, draft.readChanges(fields), { silent: draft.isSilent }),
    { confirmation: (record) => `Created ${String((record as unknown as Fields)[idField])}.` },
  );
  return (
    <DetailPane title={`New ${toSingularName(collection)}`} label="New record" onClose={onClose}>
      <RecordForm
        isNew
        fields={fields}
        draft={draft}
        submit="Create"
        change={add}
        onSuccess={(record) => {
          draft.discard();
          onCreated(String((record as unknown as Fields)[idField]));
        }}
      />
    </DetailPane>
  );
}
