import type { SchemaLine } from "./schema-text.ts";

export function SchemaTable({ lines }: { lines: readonly SchemaLine[] }) {
  if (lines.length === 0) return null;
  return (
    <ul className="schema">
      {lines.map(({ path, name, depth, required, type, about }) => (
        <li key={path} style={{ paddingLeft: `${depth * 1.1}rem` }}>
          <code>
            {name}
            {!required && <span className="quiet">?</span>}
          </code>{" "}
          <span className="quiet">{type}</span>
          {about && <span> {about}</span>}
        </li>
      ))}
    </ul>
  );
}
