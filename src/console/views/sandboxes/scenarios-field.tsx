import { useMemo } from "react";
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
  const choices = useMemo(
    () =>
      data?.items
        .filter(({ problem }) => problem === undefined)
        .map(({ name, description }) => ({ id: name, title: name, detail: description })),
    [data],
  );
  return (
    <MarkField
      label="Scenarios"
      listLabel="Scenarios in force from the start"
      find="Find a scenario"
      choices={choices}
      chosen={chosen}
      onChange={onChange}
    />
  );
}
