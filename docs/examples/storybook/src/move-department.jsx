import { useState } from "react";

/** Moves a department below another one. */
export function MoveDepartment({ organization, department, parents }) {
  const [parent, setParent] = useState(parents[0].id);
  const [outcome, setOutcome] = useState("");
  const move = async () => {
    setOutcome("Moving…");
    try {
      const path = `/v1/organizations/${organization}/departments/${department.id}/reparent`;
      const answer = await fetch(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ new_parent_id: parent }),
      });
      const body = await answer.json();
      setOutcome(answer.ok ? `${body.name} is now at ${body.path}.` : explain(answer, body));
    } catch {
      setOutcome("The connection was lost. Check whether the department has moved.");
    }
  };
  return (
    <form action={move}>
      <label>
        Move {department.name} to{" "}
        <select value={parent} onChange={({ target }) => setParent(target.value)}>
          {parents.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>{" "}
      <button type="submit">Move</button>
      <p role="status">{outcome}</p>
    </form>
  );
}

function explain({ status, headers }, body) {
  if (status === 429) return `Too many requests. Try again in ${headers.get("retry-after")} s.`;
  const code = body.error?.code ?? body.code ?? status;
  return `Refused (${status}, ${code}).`;
}
