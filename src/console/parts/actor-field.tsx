import type { Actor } from "../api/actors.ts";
import { ChoiceField } from "./form.tsx";

/** Nobody: a call without credentials. */
export const NOBODY = "nobody";

/** Who calls: a user by one of their keys, or nobody. */
export function ActorField({
  actors,
  value,
  onChange,
  label = "As",
  nobody = true,
}: {
  /** Undefined until the server has said them. */
  actors: readonly Actor[] | undefined;
  value: string;
  onChange: (id: string) => void;
  label?: string;
  /** Whether a call without credentials is offered too. */
  nobody?: boolean;
}) {
  const choices = actors?.map(({ id, name, role, organization, unusable }) => ({
    id,
    title: name,
    detail: [role ? `${role} of ${organization}` : organization, id, unusable].filter(Boolean).join(", "),
  }));
  return (
    <ChoiceField
      label={label}
      name="as"
      value={value}
      onChange={onChange}
      choices={
        choices && nobody ? [...choices, { id: NOBODY, title: "Nobody", detail: "no credentials" }] : choices
      }
    />
  );
}
