import { type Check, describe, expectAccepted, failed, isRefused, passed } from "../check.ts";

/** Well above the 100 KB at which common body parsers stop by default. */
const LARGE_BYTES = 256 * 1024;

const headerNameCase: Check = {
  id: "header-name-case",
  title: "Accepts header names in any letter case",
  severity: "major",
  why: "Header names have no case: proxies and HTTP/2 turn them into lower case on the way.",
  advice:
    "Look headers up through the framework's case-insensitive accessor, not by comparing the names as sent.",
  run: (session) =>
    expectAccepted(session, [
      {
        label: "lower-case names",
        delivery: session.makeDelivery(),
        transport: { headerNames: (name) => name.toLowerCase() },
      },
      {
        label: "upper-case names",
        delivery: session.makeDelivery(),
        transport: { headerNames: (name) => name.toUpperCase() },
      },
    ]),
};

const charset: Check = {
  id: "content-type-charset",
  title: "Accepts a charset in the content type",
  severity: "major",
  why: "`application/json; charset=utf-8` is the same media type; refusing it loses deliveries when a proxy adds the parameter.",
  advice: "Parse the media type and ignore its parameters, instead of comparing the whole header.",
  run: (session) =>
    expectAccepted(
      session,
      ["application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'].map((contentType) => ({
        label: contentType,
        delivery: session.makeDelivery(),
        transport: { contentType },
      })),
    ),
};

const large: Check = {
  id: "body-large",
  title: "Accepts a large body (256 KB)",
  severity: "major",
  why: "Event data grows with the object; common body parsers stop at 100 KB, and such a delivery then fails on all six attempts.",
  advice:
    "Raise the body limit of this route (1 MB is a sensible bound) in the framework and in the proxies before it.",
  run: (session) =>
    expectAccepted(session, [
      {
        label: `${LARGE_BYTES} bytes of data`,
        delivery: session.makeDelivery({
          event: "message.created",
          data: { message_id: "msg_large", content: "x".repeat(LARGE_BYTES) },
        }),
      },
    ]),
};

const chunked: Check = {
  id: "body-chunked",
  title: "Accepts a chunked body, cut anywhere",
  severity: "major",
  why: "A sender or proxy may use chunked transfer coding; there is no Content-Length then, and a chunk can end within a character.",
  advice:
    "Read the body to its end whatever its framing, and join the pieces as bytes; never append them as text.",
  run(session) {
    const delivery = session.makeDelivery({
      data: { user_id: "usr_b", email: "ada@example.com", name: "漢字 😀 ".repeat(40) },
    });
    const chunkAt = cutsWithinCharacters(delivery.body);
    return expectAccepted(session, [
      { label: "chunks that end within characters", delivery, transport: { chunkAt } },
    ]);
  },
};

/** After the first byte of every tenth character that takes several. */
function cutsWithinCharacters(body: Buffer): number[] {
  const leads = [...body.keys()].filter((index) => body[index]! >= 0xc0);
  return leads.filter((_, index) => index % 10 === 0).map((index) => index + 1);
}

const getRefused: Check = {
  id: "get-refused",
  title: "Refuses GET",
  severity: "minor",
  why: "Deliveries are POST; a URL that answers 2xx to anything hides routing mistakes, and crawlers and link previews then look like deliveries.",
  advice: "Route POST alone; answer 405 with `Allow: POST` (or 404) to other methods.",
  async run(session) {
    const exchange = await session.get();
    if (!isRefused(exchange))
      return failed(`GET: the receiver ${describe(exchange)}, where 4xx is expected`, exchange);
    return passed(`the receiver ${describe(exchange)}`, exchange);
  },
};

export const transport: Check[] = [headerNameCase, charset, large, chunked, getRefused];
