import { useState } from "react";
import { Button } from "react-aria-components";
import { useSandboxName } from "../../address.ts";
import type { Fields, FormField } from "../../api/form-fields.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import type { CollectionName } from "../../api/types.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { Notice, ReadProblem } from "../../parts/notice.tsx";
import { useDraft } from "./draft.ts";
import { RecordForm } from "./record-form.tsx";

interface RecordPaneProps {
  collection: CollectionName;
  id: string;
  fields: readonly FormField[];
  onClose: () => void;
}

/** One record: read, changed, deleted. */
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
      <ReadProblem error={query.error} />
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
    // Before the rest of the page is asked anew: nobody shall ask for what is no more.
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
        What belongs to it goes too: records, timers, queued deliveries. The history can go back to before it;
        a snapshot keeps what there is now.
      </p>
    </Confirm>
  );
}
