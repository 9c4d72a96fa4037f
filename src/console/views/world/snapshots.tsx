import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "wouter";
import { addressOf, useSandboxName } from "../../address.ts";
import { useSandboxChange, useSandboxQuery } from "../../api/queries.ts";
import type { SnapshotState } from "../../api/types.ts";
import { useSandboxNow } from "../../live/sandbox-now.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { counted } from "../../parts/counted.ts";
import { Field, Form } from "../../parts/form.tsx";
import { Nothing, Notice, Problem, ReadProblem } from "../../parts/notice.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { NOW } from "./compare.tsx";

/** Kept worlds: taken, compared with the present, made the present. */
export function Snapshots() {
  const { data, error } = useSandboxQuery(["snapshots"], (calls) => calls.snapshots());
  const snapshots = data?.items ?? [];
  return (
    <div className="page">
      <ReadProblem error={error} />
      <TakeSnapshot />
      {data && snapshots.length === 0 && (
        <Nothing title="No snapshot has been taken.">
          One keeps data, credentials, clock, timers and pending deliveries.
        </Nothing>
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
        submit="Take a snapshot"
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
  const [asking, setAsking] = useState(false);
  const restore = useSandboxChange((calls, _: undefined) => calls.restoreSnapshot(name));
  const remove = useSandboxChange((calls, _: undefined) => calls.removeSnapshot(name));
  return (
    <li className="snapshot">
      <span className="snapshot-name">{name}</span>
      <span className="quiet">
        {counted(records, "record")}, <RelativeTime at={taken_at} now={now} />
      </span>
      <span className="actions">
        <Link
          className="button"
          href={addressOf(sandbox, "world", { show: "compare", from: name, of: sandbox, to: NOW })}
          aria-label={`Compare ${name} with the present`}
        >
          Compare
        </Link>
        <Button className="button" onPress={() => setAsking(true)} aria-label={`Restore ${name}`}>
          Restore …
        </Button>
        <Button
          className="button subtle"
          isPending={remove.isPending}
          onPress={() => remove.mutate(undefined)}
          aria-label={`Forget ${name}`}
        >
          Forget
        </Button>
      </span>
      <Problem error={remove.error} />
      {restore.isSuccess && <Notice outcome="ok">The world is as it was in {name}.</Notice>}
      {asking && (
        <Confirm
          title={`Restore ${name}?`}
          verb="Restore"
          pending={restore.isPending}
          error={restore.error}
          onConfirm={() => restore.mutate(undefined, { onSuccess: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        >
          <p>
            Data, credentials, clock, timers and pending deliveries become those of {name}. Settings,
            scenarios, rules and the journal stay. The history can go back to before it.
          </p>
        </Confirm>
      )}
    </li>
  );
}
