import { useState } from "react";
import { Link } from "wouter";
import { addressOf, useSandboxName } from "../../address.ts";
import { ChoiceField, Form } from "../../parts/form.tsx";
import type { Department, Move } from "./department-tree.ts";

const TOP = "top";

/** The same move without dragging: for fingers, and for whoever would rather choose. */
export function MoveForm({
  department,
  departments,
  pending,
  onMove,
}: {
  department: Department;
  departments: readonly Department[];
  pending: boolean;
  onMove: (move: Move) => void;
}) {
  const [parent, setParent] = useState(department.parent_id ?? TOP);
  const sandbox = useSandboxName();
  return (
    <section className="move" aria-label={`Move ${department.name}`}>
      <div className="move-head">
        <h2>{department.name}</h2>
        <Link href={addressOf(sandbox, "world", { collection: "departments", record: department.id })}>
          Open the record
        </Link>
      </div>
      <Form
        submit="Move"
        pending={pending}
        onSubmit={() => onMove({ department, parent: departments.find(({ id }) => id === parent) ?? null })}
      >
        <ChoiceField
          label="Under"
          name="new_parent_id"
          value={parent}
          onChange={setParent}
          choices={[
            { id: TOP, title: "No other: top-level" },
            ...departments.map(({ id, name, path }) => ({ id, title: name, detail: path })),
          ]}
        />
      </Form>
    </section>
  );
}
