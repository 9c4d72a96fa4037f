import { memo, useMemo, useState } from "react";
import { Input, ListBox, ListBoxItem, SearchField } from "react-aria-components";
import type { Choice } from "./form.tsx";

/**
 * Selects any number of items of a list, which a text filters. Memoized: lists have hundreds of items, and the form
 * around them renders with every key.
 */
export const MultiSelect = memo(function MultiSelect({
  label,
  listLabel,
  find,
  choices,
  chosen,
  onChange,
}: {
  label: string;
  /** Accessible name of the list. */
  listLabel: string;
  /** Placeholder of the filter. */
  find: string;
  /** Undefined while loading. Keep the array's identity while it does not change. */
  choices: readonly Choice[] | undefined;
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}) {
  const [typed, setTyped] = useState("");
  const items = useMemo(() => {
    const words = typed.toLowerCase().split(/\s+/);
    return (choices ?? []).filter(({ title, detail }) =>
      words.every((word) => `${title} ${detail ?? ""}`.toLowerCase().includes(word)),
    );
  }, [choices, typed]);
  const shown = new Set(items.map(({ id }) => id));
  return (
    <section className="field" aria-label={label}>
      <span className="field-name">
        {label} {chosen.size > 0 && <span className="quiet">{[...chosen].join(", ")}</span>}
      </span>
      <SearchField aria-label={find} value={typed} onChange={setTyped}>
        <Input className="input" placeholder={find} />
      </SearchField>
      <ListBox
        className="choices marked-choices"
        aria-label={listLabel}
        selectionMode="multiple"
        items={items}
        selectedKeys={[...chosen].filter((id) => shown.has(id))}
        onSelectionChange={(keys) => {
          // Items that the filter hides stay selected.
          const hidden = [...chosen].filter((id) => !shown.has(id));
          onChange(new Set([...hidden, ...(keys === "all" ? shown : [...keys].map(String))]));
        }}
        renderEmptyState={() => (
          <p className="quiet">{choices === undefined ? "Loading …" : "No matches."}</p>
        )}
      >
        {({ id, title, detail }) => (
          <ListBoxItem id={id} textValue={title} className="choice">
            <span>{title}</span>
            {detail && <span className="choice-detail quiet small">{detail}</span>}
          </ListBoxItem>
        )}
      </ListBox>
    </section>
  );
});
