import { useCallback, useEffect, useState } from "react";
import { call } from "./call.js";

/** The tree, in which a department can be moved below another one. */
export function Departments({ sandbox }) {
  const [departments, setDepartments] = useState([]);
  const [moved, setMoved] = useState("dept_ml");
  const [parent, setParent] = useState("dept_ops");
  const [refusal, setRefusal] = useState("");
  // The API has no list of departments: an application has it from its own server, the preview from its sandbox.
  const load = useCallback(async () => {
    const { items } = await sandbox.state("departments").list({ organization_id: "org_acme" });
    setDepartments(items);
  }, [sandbox]);
  useEffect(() => void load(), [load]);
  const move = async () => {
    setRefusal("");
    const path = `/v1/organizations/org_acme/departments/${moved}/reparent`;
    await call("POST", path, { new_parent_id: parent }).catch(({ message }) => setRefusal(message));
    await load();
  };
  const choice = (label, value, set) => (
    <label>
      {label}{" "}
      <select value={value} onChange={({ target }) => set(target.value)}>
        {departments.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>{" "}
    </label>
  );
  return (
    <section>
      <h2>Departments</h2>
      <Tree departments={departments} parent={null} />
      <form action={move}>
        {choice("Move", moved, setMoved)}
        {choice("to", parent, setParent)}
        <button type="submit">Move</button>
      </form>
      <p role="alert">{refusal}</p>
    </section>
  );
}

function Tree({ departments, parent }) {
  const children = departments.filter(({ parent_id }) => parent_id === parent);
  if (children.length === 0) return null;
  return (
    <ul>
      {children.map(({ id, name, path }) => (
        <li key={id} data-path={path}>
          {name}
          <Tree departments={departments} parent={id} />
        </li>
      ))}
    </ul>
  );
}
