import { memo, useMemo, useState } from "react";
import { Input, ListBox, ListBoxItem, SearchField } from "react-aria-components";
import type { Choice } from "./form.tsx";

/**
 * Any number of a list: marked in it, narrowed by what is typed. Drawn anew for what is its own alone: there can be
 * hundreds, and the form around it is drawn with every key.
 */
export const MarkField = memo(function MarkField({
  label,
  listLabel,
  find,
  choices,
  chosen,
  onChange,
}: {
  label: string;
  /** What the list is called to those who do not see what stands above it. */
  listLabel: string;
  /** What stands in the empty field above the list. */
  find: string;
  /** Undefined until the server has said them; the same array for as long as they are the same. */
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
          // What is not in sight stays chosen.
          const unseen = [...chosen].filter((id) => !shown.has(id));
          onChange(new Set([...unseen, ...(keys === "all" ? shown : [...keys].map(String))]));
        }}
        renderEmptyState={() => (
          <p className="quiet">{choices === undefined ? "Loading …" : "Nothing is called so."}</p>
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
