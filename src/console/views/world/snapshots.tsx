import { Button, FileTrigger } from "react-aria-components";
import type { SnapshotState } from "../../../../types/control-api.ts";
import { useSandboxName } from "../../address.ts";
import { createSandboxCalls } from "../../api/calls.ts";
import { requireJson } from "../../api/form-fields.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { ActionButton, ConfirmButton } from "../../components/button.tsx";
import { Field, Form, useInputs } from "../../components/form.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { EmptyState, LoadError, Problem } from "../../components/status.tsx";
import { downloadJson, pluralize, useDownload } from "../../components/text.tsx";
import { RelativeTime } from "../../components/time.tsx";
import { NOW } from "./compare.tsx";

export function Snapshots() {
  const { data, error } = useSandboxQuery(["snapshots"], (calls) => calls.snapshots());
  const snapshots = data?.items ?? [];
  const { inputs, field, change } = useInputs({ name: "" });
  const take = useSandboxChange((calls) => calls.takeSnapshot(inputs.name.trim()), {
    confirmation: ({ name }) => `Took snapshot ${name}.`,
    undo: (calls, { name }) => calls.removeSnapshot(name),
  });
  const upload = useSandboxChange(
    async (calls, file: File) =>
      calls.uploadSnapshot(toSnapshotName(file.name), requireJson(await file.text(), "file", file.name)),
    {
      confirmation: (_state, file) => `Uploaded snapshot ${toSnapshotName(file.name)}.`,
      undo: (calls, _state, file) => calls.removeSnapshot(toSnapshotName(file.name)),
    },
  );
  return (
    <div className="page stack grow">
      <LoadError error={error} />
      <Problem error={upload.error} />
      <div className="take">
        <Form submit="Take snapshot" change={take} onSuccess={() => change({ name: "" })}>
          <Field label="Name" {...field("name")} required placeholder="before-the-import" />
        </Form>
        <FileTrigger
          acceptedFileTypes={["application/json", ".json"]}
          onSelect={(files) => files?.[0] && upload.mutate(files[0])}
        >
          <Button className="button">Upload snapshot</Button>
        </FileTrigger>
      </div>
      {data && snapshots.length === 0 && (
        <EmptyState title="No snapshots">
          A snapshot contains data, credentials, clock, timers and pending deliveries.
        </EmptyState>
      )}
      {snapshots.length > 0 && (
        <ul className="panel lines" aria-label="Snapshots">
          {snapshots.map((snapshot) => (
            <SnapshotLine key={snapshot.name} snapshot={snapshot} />
          ))}
        </ul>
      )}
    </div>
  );
}

function toSnapshotName(file: string): string {
  return file.replace(/(\.snapshot)?\.json$/, "");
}

function SnapshotLine({ snapshot: { name, taken_at, records } }: { snapshot: SnapshotState }) {
  const sandbox = useSandboxName();
  const download = useDownload(async () =>
    downloadJson(`${name}.snapshot.json`, await createSandboxCalls(sandbox).downloadSnapshot(name)),
  );
  const restore = useSandboxChange((calls) => calls.restoreSnapshot(name), {
    confirmation: `Restored ${name}.`,
  });
  const remove = useSandboxChange(
    async (calls) => {
      const file = await calls.downloadSnapshot(name);
      await calls.removeSnapshot(name);
      return file;
    },
    {
      confirmation: `Deleted snapshot ${name}.`,
      undo: (calls, file) => calls.uploadSnapshot(name, file),
    },
  );
  return (
    <li className="snapshot flow">
      <strong>{name}</strong>
      <span className="quiet">
        {pluralize(records, "record")}, <RelativeTime at={taken_at} />
      </span>
      <span className="actions">
        <ViewLink
          className="button"
          view="world"
          query={{ show: "compare", from: name, of: sandbox, to: NOW }}
          aria-label={`Compare ${name} with now`}
        >
          Compare
        </ViewLink>
        <ActionButton label="Download" name={`Download ${name}`} change={download} />
        <ConfirmButton
          title={`Restore ${name}?`}
          verb="Restore"
          change={restore}
          name={`Restore ${name}`}
          look=""
        >
          Replaces data, credentials, clock, timers and pending deliveries with those of {name}. Settings,
          scenarios, rules and the journal do not change. To undo this, use “Undo restore” in its timeline
          entry.
        </ConfirmButton>
        <ConfirmButton
          title={`Delete ${name}?`}
          verb="Delete"
          change={remove}
          name={`Delete ${name}`}
          look="subtle"
        >
          You can undo this for a few seconds. To keep a copy, download the snapshot first.
        </ConfirmButton>
      </span>
    </li>
  );
}
