import { useState } from "react";
import { Button } from "react-aria-components";
import { useGo } from "../../address.ts";
import { useSandboxChange } from "../../api/queries.ts";
import type { HistoryEntry } from "../../api/types.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { Notice } from "../../parts/notice.tsx";

interface TravelProps {
  entry: HistoryEntry;
  onClose: () => void;
}

/** Its sentence within another. */
function nameOf({ title }: HistoryEntry): string {
  return title.replace(/\.$/, "");
}

/** Asks first: what came after is undone, though it can be rewound to in its turn. */
export function RewindDialog({ entry, onClose }: TravelProps) {
  const rewind = useSandboxChange((calls) => calls.rewind(entry.id, { to: "before" }));
  const restarted = rewind.data?.restarted_uploads ?? [];
  if (restarted.length > 0) {
    return (
      <Dialog title="Rewound" isOpen onClose={onClose}>
        <Notice outcome="refused">
          {restarted.length === 1 ? "One upload was" : `${restarted.length} uploads were`} half finished then,
          and what had been sent of it is gone: {restarted.join(", ")}. Send it again from its beginning.
        </Notice>
        <Button className="button" onPress={onClose}>
          Close
        </Button>
      </Dialog>
    );
  }
  return (
    <Dialog title="Rewind to before this" isOpen onClose={onClose}>
      <Form
        submit="Rewind"
        pending={rewind.isPending}
        error={rewind.error}
        onCancel={onClose}
        onSubmit={() =>
          rewind.mutate(undefined, { onSuccess: (done) => done.restarted_uploads.length === 0 && onClose() })
        }
      >
        <p>
          Data, credentials, the clock, timers and pending deliveries become what they were before “
          {nameOf(entry)}”. It and all that came after are marked as undone; they stay in the list, and can be
          rewound to.
        </p>
        <p className="quiet">Settings, scenarios, rules and the journal stay as they are.</p>
      </Form>
    </Dialog>
  );
}

/** A second sandbox goes on from before an entry; this one is left alone. */
export function BranchDialog({ entry, onClose }: TravelProps) {
  const [name, setName] = useState("");
  const go = useGo();
  const branch = useSandboxChange((calls) =>
    calls.forkEntry(entry.id, { to: "before", ...(name === "" ? {} : { name }) }),
  );
  return (
    <Dialog title="Branch from here" isOpen onClose={onClose}>
      <Form
        submit="Branch"
        pending={branch.isPending}
        error={branch.error}
        onCancel={onClose}
        onSubmit={() => branch.mutate(undefined, { onSuccess: (made) => go("timeline", {}, made.name) })}
      >
        <p>A second sandbox begins as this one was before “{nameOf(entry)}”. This one stays as it is.</p>
        <Field
          label="Name"
          name="name"
          value={name}
          onChange={setName}
          autoFocus
          hint="Lower-case letters, digits and hyphens. Left empty, one is made up."
        />
      </Form>
    </Dialog>
  );
}
