import { Parser } from "htmlparser2";
import { inPieces } from "./in-pieces.ts";
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

/** Browsers nest no deeper; each element costs the parser as much time as there are elements around it. */
const MAX_DEPTH = 512;

interface MarkupIo {
  signal: AbortSignal;
  xml?: boolean;
}

/**
 * The words of HTML or XML, a line for each block or row; entities are read, scripts and comments are not, nor what comes
 * after more text than is kept or after elements that nest deeper than a page can. @throws the signal's reason
 */
export async function textOfMarkup(markup: string, { signal, xml = false }: MarkupIo): Promise<string> {
  let text = "";
  let unseen = 0;
  let depth = 0;
  const separate = (name: string) => {
    if (INLINE.has(name) && !xml) return;
    text += CELLS.has(name) ? " " : "\n";
  };
  const parser = new Parser(
    {
      onopentagname(name) {
        depth += 1;
        if (UNSEEN.has(name) && !xml) unseen += 1;
        separate(name);
      },
      onclosetag(name) {
        depth -= 1;
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
  for await (const piece of inPieces(markup, signal)) {
    parser.write(piece);
    if (text.length >= MAX_TEXT_LENGTH || depth > MAX_DEPTH) break;
  }
  parser.end();
  return text.replaceAll(/ {2,}/g, " ");
}
