import { Parser } from "htmlparser2";
import { MAX_TEXT_LENGTH } from "./passages.ts";

/** What a reader of the page never sees. */
const UNSEEN = new Set([
  "script",
  "style",
  "template",
  "noscript",
  "svg",
  "math",
  "iframe",
  "object",
  "select",
]);

/** Elements within a line; all others begin one of their own. */
const INLINE = new Set(
  "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q rp rt ruby s samp small span strike strong sub sup time tt u var wbr".split(
    " ",
  ),
);

/** A table's row stays together: its cells are what belongs together. */
const CELLS = new Set(["td", "th"]);

/** The words of HTML or XML, a line for each block or row; entities are read, scripts and comments are not. */
export function textOfMarkup(markup: string, { xml = false }: { xml?: boolean } = {}): string {
  let text = "";
  let unseen = 0;
  const separate = (name: string) => {
    if (INLINE.has(name) && !xml) return;
    text += CELLS.has(name) ? " " : "\n";
  };
  const parser = new Parser(
    {
      onopentag(name) {
        if (UNSEEN.has(name) && !xml) unseen += 1;
        separate(name);
      },
      onclosetag(name) {
        if (UNSEEN.has(name) && !xml) unseen -= 1;
        separate(name);
      },
      ontext(words) {
        // A line break within a block is a space (the blocks make the lines).
        if (unseen === 0 && text.length < MAX_TEXT_LENGTH) text += words.replaceAll(/\s+/g, " ");
      },
    },
    { xmlMode: xml, decodeEntities: true },
  );
  parser.end(markup);
  return text.replaceAll(/ {2,}/g, " ");
}
