import { Button, FileTrigger } from "react-aria-components";
import type { SnapshotState } from "../../../../types/control-api.ts";
import { useSandboxName } from "../../address.ts";
import { createSandboxCalls } from "../../api/calls.ts";
import { requireJson } from "../../api/form-fields.ts";
import { useSandboxChange, useSnapshots } from "../../api/queries.ts";
import { ActionButton, ConfirmButton } from "../../components/button.tsx";
import { Field, Form, useInputs } from "../../components/form.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { EmptyState, LoadError, Problem } from "../../components/status.tsx";
import { downloadJson, pluralize, useDownload } from "../../components/text.tsx";
import { RelativeTime } from "../../components/time.tsx";
import { NOW } from "./compare.tsx";

export function Snapshots() {
  const { data, error } = useSnapshots(useSandboxName());
  const snapshots = data?.items ?? [];
  const { inputs, field, changeInputs } = useInputs({ name: "" });
  const take = useSandboxChange((calls) => calls.takeSnapshot(inputs.name.trim()), {
    confirmation: ({ name }) => `Took snapshot ${name}.`,
    undo: (calls, { name }) => calls.removeSnapshot(name),
  });
  const upload = useSandboxChange(
    async (calls, file: File) => {
      const name = toSnapshotName(file.name);
      const content = requireJson(await file.text(), "file", file.name);
      const exists = (await calls.snapshots()).items.some((one) => one.name === name);
      const replaced = exists ? await calls.downloadSnapshot(name) : undefined;
      await calls.uploadSnapshot(name, content);
      return { name, replaced };
    },
    {
      confirmation: ({ name, replaced }) =>
        `${replaced === undefined ? "Uploaded" : "Uploaded and replaced"} snapshot ${name}.`,
      undo: async (calls, { name, replaced }) =>
        replaced === undefined ? calls.removeSnapshot(name) : calls.uploadSnapshot(name, replaced),
    },
  );
  return (
    <div className="page stack grow">
      <LoadError error={error} />
      <Problem error={upload.error} />
      <div className="take">
        <Form submit="Take snapshot" change={take} onSuccess={() => changeInputs({ name: "" })}>
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

/** A browser names a second download `before.snapshot (1).json`. Names of snapshots have fewer characters than names of files. */
function toSnapshotName(file: string): string {
  const name = file.replace(/(\.snapshot)?( ?\(\d+\))?\.json$/, "").replaceAll(/[^\w.-]+/g, "-");
  return name.replace(/^[^a-z\d]+/i, "").slice(0, MAX_NAME_LENGTH) || "uploaded";
}

const MAX_NAME_LENGTH = 63;

function SnapshotLine({ snapshot: { name, taken_at, records } }: { snapshot: SnapshotState }) {
  const sandbox = useSandboxName();
  const download = useDownload(async () =>
    downloadJson(`${name}.snapshot.json`, await createSandboxCalls(sandbox).downloadSnapshot(name)),
  );
  const restore = useSandboxChange((calls) => calls.restoreSnapshot(name), {
    confirmation: `Restored snapshot ${name}.`,
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
        {pluralize(records, "record")}, taken <RelativeTime at={taken_at} />
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
          title={`Restore “${name}”?`}
          verb="Restore"
          change={restore}
          name={`Restore ${name}`}
          look=""
        >
          Replaces data, credentials, clock, timers and pending deliveries with those of “{name}”. Settings,
          scenarios, rules and recorded requests do not change. You can undo this for a few seconds, and later
          with “Undo restore” in its timeline entry.
        </ConfirmButton>
        <ConfirmButton title={`Delete “${name}”?`} verb="Delete" change={remove} name={`Delete ${name}`}>
          You can undo this for a few seconds. To keep a copy, download the snapshot first.
        </ConfirmButton>
      </span>
    </li>
  );
}
