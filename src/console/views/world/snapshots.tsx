import type { SnapshotState } from "../../../../types/control-api.ts";
import { useSandboxName } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { ConfirmButton } from "../../components/dialog.tsx";
import { Field, Form, useInputs } from "../../components/form.tsx";
import { ViewLink } from "../../components/layout.tsx";
import { EmptyState, LoadError } from "../../components/notice.tsx";
import { pluralize } from "../../components/text.tsx";
import { RelativeTime } from "../../components/time.tsx";
import { NOW } from "./compare.tsx";

export function Snapshots() {
  const { data, error } = useSandboxQuery(["snapshots"], (calls) => calls.snapshots());
  const snapshots = data?.items ?? [];
  const { inputs, field, change } = useInputs({ name: "" });
  const take = useSandboxChange((calls) => calls.takeSnapshot(inputs.name.trim()), {
    done: ({ name }) => `Took snapshot ${name}.`,
    undo: (calls, { name }) => calls.removeSnapshot(name),
  });
  return (
    <div className="page stack grow">
      <LoadError error={error} />
      <div className="take">
        <Form submit="Take snapshot" change={take} onSuccess={() => change({ name: "" })}>
          <Field label="Name" {...field("name")} required placeholder="before-the-import" />
        </Form>
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

function SnapshotLine({ snapshot: { name, taken_at, records } }: { snapshot: SnapshotState }) {
  const sandbox = useSandboxName();
  const restore = useSandboxChange((calls) => calls.restoreSnapshot(name), { done: `Restored ${name}.` });
  const remove = useSandboxChange(
    async (calls) => {
      const file = await calls.downloadSnapshot(name);
      await calls.removeSnapshot(name);
      return file;
    },
    {
      done: `Deleted snapshot ${name}.`,
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
        <ConfirmButton
          title={`Restore ${name}?`}
          verb="Restore"
          change={restore}
          name={`Restore ${name}`}
          look=""
        >
          Replaces data, credentials, clock, timers and pending deliveries by those of {name}. Settings,
          scenarios, rules and the journal do not change. To undo this, rewind in the timeline.
        </ConfirmButton>
        <ConfirmButton
          title={`Delete ${name}?`}
          verb="Delete"
          change={remove}
          name={`Delete ${name}`}
          look="subtle"
        >
          It can be undone for a few seconds. To keep it elsewhere, download it first.
        </ConfirmButton>
      </span>
    </li>
  );
}
