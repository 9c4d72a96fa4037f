import { useMutation } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useParameters, useSandboxName } from "../../address.ts";
import { useActors } from "../../api/actors.ts";
import type { ControlError } from "../../api/fetch-control.ts";
import { fetchService, type ServiceAnswer } from "../../api/fetch-service.ts";
import { sandboxKey, useSandboxQuery } from "../../api/queries.ts";
import { ActorField, NOBODY } from "../../parts/actor-field.tsx";
import { ChoiceField } from "../../parts/form.tsx";
import { Nothing, Notice, Problem, ReadProblem } from "../../parts/notice.tsx";
import { type Move, treeOf } from "./department-tree.ts";
import { DepartmentTree } from "./department-tree-view.tsx";
import { MoveForm } from "./move-form.tsx";

/** Departments of an organization; moved by the call that an application would make, as whoever is chosen. */
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
  const tree = useMemo(() => treeOf(departments), [departments]);
  const { actors, as, move } = useMove(chosen);
  const isLonely = organizations.data?.items.length === 0;
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
          label="Moved by"
        />
      </div>
      <ReadProblem error={organizations.error ?? query.error} />
      {move.variables && <Moved move={move.variables} answer={move.data} error={move.error} />}
      <div className="tree-and-move">
        <DepartmentTree
          // Nothing is moved before it is known as whom.
          tree={actors ? tree : NONE}
          departments={departments}
          selected={selected?.id}
          onSelect={(department) => parameters.set({ department })}
          onMove={(change) => move.mutate(change)}
          empty={
            isLonely ? (
              <Nothing title="This world has no organization.">
                Make one under Records, in the collection organizations.
              </Nothing>
            ) : query.data && actors ? (
              <Nothing title="This organization has no departments." />
            ) : (
              <p className="loading quiet">Loading …</p>
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

/** `departments.reparent` as the chosen user; by default one who may. */
function useMove(organization: string) {
  const sandbox = useSandboxName();
  const parameters = useParameters();
  const actors = useActors();
  const able = actors?.find((actor) => actor.organization === organization && actor.role === "owner");
  const as = parameters.get("as") ?? able?.id ?? NOBODY;
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

/** What the service said to a move, in its own words. */
function Moved({
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
        {department.name} was moved {where}.
      </Notice>
    );
  }
  const said = answer.json?.error?.message ?? answer.json?.message ?? answer.text;
  return (
    <Notice outcome={answer.status >= 500 ? "failed" : "refused"}>
      <strong>
        {answer.status} {answer.json?.error?.code}
      </strong>{" "}
      {department.name} stays where it was: {said}
      <button type="button" className="sorter more" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? "Hide the answer" : "Show the answer"}
      </button>
      {open && <pre>{JSON.stringify(answer.json ?? answer.text, null, 2)}</pre>}
    </Notice>
  );
}
