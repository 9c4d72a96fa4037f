import Type from "typebox";

const Action = Type.Object({ href: Type.String({ format: "uri" }), method: Type.Literal("GET") });
type Action = { href: string; method: "GET" };

/** Section 4.11 and G17: the formats of one transcription link to each other. */
export const Actions = Type.Object(
  {
    get_sentences: Action,
    get_paragraphs: Action,
    get_subtitles_srt: Action,
    get_subtitles_vtt: Action,
    next: Type.Optional(Action),
    previous: Type.Optional(Action),
  },
  { $id: "TranscriptionActions" },
);

interface Place {
  base_url: string;
  transcription_id: string;
}

export interface Page {
  offset: number;
  /** Absent: everything from the offset on. */
  limit: number | undefined;
  total: number;
}

export function siblingLinks(place: Place) {
  return {
    get_sentences: link(place, "sentences"),
    get_paragraphs: link(place, "paragraphs"),
    get_subtitles_srt: link(place, "subtitles/srt"),
    get_subtitles_vtt: link(place, "subtitles/vtt"),
  };
}

/** The largest page (section 8). */
const MAX_PAGE = 1000;

/** `next` and `previous` where there is such a page; whoever follows them meets each sentence once. */
export function pageLinks(place: Place, { offset, limit, total }: Page) {
  const end = limit === undefined ? total : offset + limit;
  const links: { next?: Action; previous?: Action } = {};
  if (end < total) links.next = link(place, `sentences?limit=${limit}&offset=${end}`);
  // From beyond the end, the page before is the last one that holds anything.
  const start = Math.min(offset, total);
  if (start > 0) {
    const size = Math.min(limit ?? MAX_PAGE, start);
    // A shorter first page rather than one that repeats sentences of this one.
    links.previous = link(place, `sentences?limit=${size}&offset=${start - size}`);
  }
  return links;
}

function link({ base_url, transcription_id }: Place, rest: string): Action {
  return { href: `${base_url}/v1/audio/transcribe/${transcription_id}/${rest}`, method: "GET" };
}
