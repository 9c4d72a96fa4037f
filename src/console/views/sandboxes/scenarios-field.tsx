import { useState } from "react";
import { Input, ListBox, ListBoxItem, SearchField } from "react-aria-components";
import { useSandboxQuery } from "../../api/queries.ts";

/** Which scenarios are in force from the start: a list to mark in, narrowed by what is typed. */
export function ScenariosField({
  chosen,
  onChange,
}: {
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}) {
  const [find, setFind] = useState("");
  const { data } = useSandboxQuery(["scenarios"], (calls) => calls.scenarios());
  const words = find.toLowerCase().split(/\s+/);
  const items = (data?.items ?? []).filter(
    ({ name, description, problem }) =>
      problem === undefined && words.every((word) => `${name} ${description}`.toLowerCase().includes(word)),
  );
  const shown = new Set(items.map(({ name }) => name));
  return (
    <section className="field" aria-label="Scenarios">
      <span className="field-name">
        Scenarios {chosen.size > 0 && <span className="quiet">{[...chosen].join(", ")}</span>}
      </span>
      <SearchField aria-label="Find a scenario" value={find} onChange={setFind}>
        <Input className="input" placeholder="Find: name, operation" />
      </SearchField>
      <ListBox
        className="choices scenario-choices"
        aria-label="Scenarios in force from the start"
        selectionMode="multiple"
        items={items}
        selectedKeys={[...chosen].filter((name) => shown.has(name))}
        onSelectionChange={(keys) => {
          // What is not in sight stays chosen.
          const unseen = [...chosen].filter((name) => !shown.has(name));
          onChange(new Set([...unseen, ...(keys === "all" ? shown : [...keys].map(String))]));
        }}
        renderEmptyState={() => <p className="quiet">No scenario is called so.</p>}
      >
        {({ name, description }) => (
          <ListBoxItem id={name} textValue={name} className="choice">
            <span>{name}</span>
            <span className="choice-detail quiet small">{description}</span>
          </ListBoxItem>
        )}
      </ListBox>
    </section>
  );
}
