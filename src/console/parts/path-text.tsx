import { Fragment } from "react";

/** A path or an address that breaks after its slashes, where it has to, and not within a name. */
export function PathText({ children }: { children: string }) {
  const parts = children.split(/(?<=\w\}?\/)/);
  return parts.map((part, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text stay in their order
    <Fragment key={place}>
      {place > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
