import { useSandboxQuery } from "../../api/queries.ts";
import { MarkField } from "../../parts/mark-field.tsx";

/** Which scenarios are in force from the start. */
export function ScenariosField({
  chosen,
  onChange,
}: {
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}) {
  const { data } = useSandboxQuery(["scenarios"], (calls) => calls.scenarios());
  return (
    <MarkField
      label="Scenarios"
      listLabel="Scenarios in force from the start"
      find="Find a scenario"
      choices={data?.items
        .filter(({ problem }) => problem === undefined)
        .map(({ name, description }) => ({ id: name, title: name, detail: description }))}
      chosen={chosen}
      onChange={onChange}
    />
  );
}
