import { useMemo, useState } from "react";
import { toPrintableLines } from "../../../engine/contract/text.ts";
import { useParameters, useSandboxName } from "../../address.ts";
import { useSelectedActor } from "../../api/actors.ts";
import { fetchService, type ServiceAnswer } from "../../api/fetch-service.ts";
import { useOrganizations, useRecords, useSandboxChange } from "../../api/queries.ts";
import { undoRequest } from "../../api/undo.ts";
import { BodyText } from "../../components/exchange.tsx";
import { ActorField, ChoiceField, Form } from "../../components/form.tsx";
import { AddRecordLink, ViewLink } from "../../components/layout.tsx";
import {
  EmptyState,
  LoadError,
  Loading,
  Notice,
  Problem,
  toStatusOutcome,
} from "../../components/status.tsx";
import { buildTree, type Department, DepartmentTree, type Move } from "./department-tree.tsx";

export function Departments() {
  const { get, set } = useParameters();
  const organizations = useOrganizations();
  const selectedOrganization = get("organization") ?? organizations.choices?.[0]?.id ?? "";
  const query = useRecords(
    "departments",
    { organization_id: selectedOrganization },
    { enabled: selectedOrganization !== "" },
  );
  const departments = query.data?.items ?? NONE;
  const tree = useMemo(() => buildTree(departments), [departments]);
  const { actors, as, move } = useMove(selectedOrganization);
  const department = departments.find(({ id }) => id === get("department"));
  return (
    <div className="page stack grow">
      <div className="tools">
        <ChoiceField
          label="Organization"
          name="organization"
          value={selectedOrganization}
          onChange={(organization) => set({ organization, department: undefined, as: undefined })}
          choices={organizations.choices}
        />
        <ActorField actors={actors} value={as} onChange={(id) => set({ as: id })} label="Move as user" />
      </div>
      <LoadError error={organizations.error ?? query.error} />
      <Problem error={move.error} />
      {move.data && move.data.answer.status >= 400 && <RefusedMove {...move.data} />}
      <div className="tree-and-move grow">
        <DepartmentTree
          // Users must be loaded before a move.
          tree={actors ? tree : NONE}
          departments={departments}
          selected={department?.id}
          onSelect={(id) => set({ department: id })}
          onMove={move.mutate}
          empty={
            organizations.choices?.length === 0 ? (
              <EmptyState title="No organizations">
                <AddRecordLink collection="organizations" />
              </EmptyState>
            ) : query.data && actors ? (
              <EmptyState title="No departments" />
            ) : (
              <Loading />
            )
          }
        />
        {department && actors && (
          <MoveForm key={department.id} department={department} departments={departments} move={move} />
        )}
      </div>
    </div>
  );
}

const NONE: readonly never[] = [];

/** Calls `departments.reparent` as the selected user, by default an owner. */
function useMove(organization: string) {
  const sandbox = useSandboxName();
  const { actors, as, actor } = useSelectedActor(organization);
  const move = useSandboxChange(
    async (_calls, { department, parent }: Move) => {
      const answer = await fetchService({
        sandbox,
        key: actor?.key,
        method: "POST",
        path: `/v1/organizations/${organization}/departments/${department.id}/reparent`,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ new_parent_id: parent?.id ?? null }),
      });
      return { department, parent, answer };
    },
    {
      confirmation: ({ department, parent, answer }) =>
        answer.status < 400
          ? `Moved ${department.name} ${parent ? `under ${parent.name}` : "to the top"}.`
          : undefined,
      undo: (calls, { answer }) => undoRequest(calls, answer.requestId),
    },
  );
  return { actors, as, move };
}

function RefusedMove({ department, answer }: { department: Department; answer: ServiceAnswer }) {
  const { status, json, text } = answer;
  const message = json?.error?.message ?? json?.message ?? text;
  return (
    <Notice outcome={toStatusOutcome(status)}>
      <strong>
        {status} {json?.error?.code}
      </strong>{" "}
      {toPrintableLines(`${department.name} was not moved: ${message}`)}
      <details>
        <summary>Response</summary>
        <BodyText text={json === undefined ? text : JSON.stringify(json, null, 2)} />
      </details>
    </Notice>
  );
}

const TOP = "top";

function MoveForm(props: {
  department: Department;
  departments: readonly Department[];
  move: ReturnType<typeof useMove>["move"];
}) {
  const { department, departments, move } = props;
  const [selected, select] = useState<string>();
  const parent = selected ?? department.parent_id ?? TOP;
  const mutate = () =>
    move.mutate(
      { department, parent: departments.find(({ id }) => id === parent) ?? null },
      { onSuccess: ({ answer }) => answer.status < 400 && select(undefined) },
    );
  return (
    <section className="move panel stack" aria-label={`Move ${department.name}`}>
      <div className="section-head">
        <h2>{department.name}</h2>
        <ViewLink view="world" query={{ collection: "departments", record: department.id }}>
          Open record
        </ViewLink>
      </div>
      <Form submit="Move" change={{ isPending: move.isPending, error: null, mutate }}>
        <ChoiceField
          label="Parent"
          name="new_parent_id"
          value={parent}
          onChange={select}
          choices={[
            { id: TOP, title: "None (top-level)" },
            ...departments.map(({ id, name, path }) => ({ id, title: name, detail: path })),
          ]}
        />
      </Form>
    </section>
  );
}
