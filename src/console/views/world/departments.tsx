import { useMutation } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "wouter";
import { toAddress, useParameters, useSandboxName } from "../../address.ts";
import { useActors } from "../../api/actors.ts";
import type { ControlError } from "../../api/fetch-control.ts";
import { fetchService, type ServiceAnswer } from "../../api/fetch-service.ts";
import { sandboxKey, useSandboxQuery } from "../../api/queries.ts";
import { ActorField, ChoiceField, Form, NO_CREDENTIALS } from "../../components/form.tsx";
import { EmptyState, LoadError, Loading, Notice, Problem } from "../../components/notice.tsx";
import { buildTree, type Department, DepartmentTree, type Move } from "./department-tree.tsx";

/** Departments of an organization. Moves call the emulated API as the selected user. */
export function Departments() {
  const parameters = useParameters();
  const organizations = useSandboxQuery(["records", "organizations"], (calls) =>
    calls.records("organizations"),
  );
  const chosen = parameters.get("organization") ?? organizations.data?.items[0]?.id ?? "";
  const query = useSandboxQuery(
    ["departments", chosen],
    (calls) => calls.records("departments", { organization_id: chosen }),
    { enabled: chosen !== "" },
  );
  const departments = query.data?.items ?? NONE;
  const tree = useMemo(() => buildTree(departments), [departments]);
  const { actors, as, move } = useMove(chosen);
  const hasNone = organizations.data?.items.length === 0;
  const selected = departments.find(({ id }) => id === parameters.get("department"));
  return (
    <div className="page departments">
      <div className="world-tools">
        <ChoiceField
          label="Organization"
          name="organization"
          value={chosen}
          onChange={(organization) => parameters.set({ organization, department: undefined, as: undefined })}
          choices={organizations.data?.items.map(({ id, name }) => ({ id, title: name, detail: id }))}
        />
        <ActorField
          actors={actors}
          value={as}
          onChange={(id) => parameters.set({ as: id })}
          label="Move as"
        />
      </div>
      <LoadError error={organizations.error ?? query.error} />
      {move.variables && <MoveResult move={move.variables} answer={move.data} error={move.error} />}
      <div className="tree-and-move">
        <DepartmentTree
          // Users must be loaded before a move.
          tree={actors ? tree : NONE}
          departments={departments}
          selected={selected?.id}
          onSelect={(department) => parameters.set({ department })}
          onMove={(change) => move.mutate(change)}
          empty={
            hasNone ? (
              <EmptyState title="No organizations">
                Create one under Records, in the collection organizations.
              </EmptyState>
            ) : query.data && actors ? (
              <EmptyState title="No departments" />
            ) : (
              <Loading />
            )
          }
        />
        {selected && actors && (
          <MoveForm
            key={selected.id}
            department={selected}
            departments={departments}
            pending={move.isPending}
            onMove={(change) => move.mutate(change)}
          />
        )}
      </div>
    </div>
  );
}

const NONE: readonly never[] = [];

/** `departments.reparent` as the selected user, by default an owner. */
function useMove(organization: string) {
  const sandbox = useSandboxName();
  const parameters = useParameters();
  const actors = useActors();
  const owner = actors?.find((actor) => actor.organization === organization && actor.role === "owner");
  const as = parameters.get("as") ?? owner?.id ?? NO_CREDENTIALS;
  const key = actors?.find(({ id }) => id === as)?.key;
  const move = useMutation<ServiceAnswer, ControlError, Move>({
    mutationFn: ({ department, parent }) =>
      fetchService({
        sandbox,
        key,
        method: "POST",
        path: `/v1/organizations/${organization}/departments/${department.id}/reparent`,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ new_parent_id: parent?.id ?? null }),
      }),
    onSettled: (_data, _error, _move, _result, { client }) =>
      client.invalidateQueries({ queryKey: sandboxKey(sandbox) }),
  });
  return { actors, as, move };
}

/** The response of the emulated API to a move. */
function MoveResult({
  move: { department, parent },
  answer,
  error,
}: {
  move: Move;
  answer: ServiceAnswer | undefined;
  error: ControlError | null;
}) {
  const [open, setOpen] = useState(false);
  if (error) return <Problem error={error} />;
  if (answer === undefined) return null;
  const where = parent ? `under ${parent.name}` : "to the top";
  if (answer.status < 400) {
    return (
      <Notice outcome="ok">
        Moved {department.name} {where}.
      </Notice>
    );
  }
  const message = answer.json?.error?.message ?? answer.json?.message ?? answer.text;
  return (
    <Notice outcome={answer.status >= 500 ? "failed" : "refused"}>
      <strong>
        {answer.status} {answer.json?.error?.code}
      </strong>{" "}
      {department.name} was not moved: {message}
      <button type="button" className="sorter more" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? "Hide response" : "Show response"}
      </button>
      {open && <pre>{JSON.stringify(answer.json ?? answer.text, null, 2)}</pre>}
    </Notice>
  );
}

const TOP = "top";

/** Moves a department without dragging. */
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
        <Link href={toAddress(sandbox, "world", { collection: "departments", record: department.id })}>
          Open record
        </Link>
      </div>
      <Form
        submit="Move"
        pending={pending}
        onSubmit={() => onMove({ department, parent: departments.find(({ id }) => id === parent) ?? null })}
      >
        <ChoiceField
          label="Parent"
          name="new_parent_id"
          value={parent}
          onChange={setParent}
          choices={[
            { id: TOP, title: "None (top-level)" },
            ...departments.map(({ id, name, path }) => ({ id, title: name, detail: path })),
          ]}
        />
      </Form>
    </section>
  );
}
