import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import type { SnapshotState } from "../../../../types/control-api.ts";
import { toAddress, useSandboxName } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import { Confirm } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { EmptyState, LoadError, Notice } from "../../components/notice.tsx";
import { pluralize } from "../../components/text.tsx";
import { RelativeTime, useSandboxNow } from "../../components/time.tsx";
import { NOW } from "./compare.tsx";

/** Takes, compares, restores and deletes snapshots. */
export function Snapshots() {
  const { data, error } = useSandboxQuery(["snapshots"], (calls) => calls.snapshots());
  const snapshots = data?.items ?? [];
  return (
    <div className="page">
      <LoadError error={error} />
      <TakeSnapshot />
      {data && snapshots.length === 0 && (
        <EmptyState title="No snapshots">
          A snapshot contains data, credentials, clock, timers and pending deliveries.
        </EmptyState>
      )}
      {snapshots.length > 0 && (
        <ul className="snapshots" aria-label="Snapshots">
          {snapshots.map((snapshot) => (
            <SnapshotLine key={snapshot.name} snapshot={snapshot} />
          ))}
        </ul>
      )}
    </div>
  );
}

function TakeSnapshot() {
  const [name, setName] = useState("");
  const take = useSandboxChange((calls, snapshot: string) => calls.takeSnapshot(snapshot));
  return (
    <div className="take">
      <Form
        submit="Take snapshot"
        pending={take.isPending}
        error={take.error}
        onSubmit={() => take.mutate(name.trim(), { onSuccess: () => setName("") })}
      >
        <Field
          label="Name"
          name="name"
          value={name}
          onChange={setName}
          required
          placeholder="before-the-import"
        />
      </Form>
    </div>
  );
}

function SnapshotLine({ snapshot: { name, taken_at, records } }: { snapshot: SnapshotState }) {
  const sandbox = useSandboxName();
  const now = useSandboxNow();
  const [asking, setAsking] = useState<"restore" | "delete">();
  const close = () => setAsking(undefined);
  const restore = useSandboxChange((calls, _: undefined) => calls.restoreSnapshot(name));
  const remove = useSandboxChange((calls, _: undefined) => calls.removeSnapshot(name));
  return (
    <li className="snapshot">
      <span className="snapshot-name">{name}</span>
      <span className="quiet">
        {pluralize(records, "record")}, <RelativeTime at={taken_at} now={now} />
      </span>
      <span className="actions">
        <Link
          className="button"
          href={toAddress(sandbox, "world", { show: "compare", from: name, of: sandbox, to: NOW })}
          aria-label={`Compare ${name} with now`}
        >
          Compare
        </Link>
        <Button className="button" onPress={() => setAsking("restore")} aria-label={`Restore ${name}`}>
          Restore …
        </Button>
        <Button className="button subtle" onPress={() => setAsking("delete")} aria-label={`Delete ${name}`}>
          Delete …
        </Button>
      </span>

      {restore.isSuccess && <Notice outcome="ok">Restored {name}.</Notice>}
      {asking === "delete" && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete"
          pending={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate(undefined)}
          onClose={close}
        >
          <p>This cannot be undone.</p>
        </Confirm>
      )}
      {asking === "restore" && (
        <Confirm
          title={`Restore ${name}?`}
          verb="Restore"
          pending={restore.isPending}
          error={restore.error}
          onConfirm={() => restore.mutate(undefined, { onSuccess: close })}
          onClose={close}
        >
          <p>
            Replaces data, credentials, clock, timers and pending deliveries by those of {name}. Settings,
            scenarios, rules and the journal do not change. To undo this, rewind in the timeline.
          </p>
        </Confirm>
      )}
    </li>
  );
}
