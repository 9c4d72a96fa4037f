import { type Check, isAccepted } from "../check.ts";
import type { Delivery } from "../delivery.ts";
import { expectRefused, judgeNotAccepted } from "../expectations.ts";

export const bodyChanged: Check = {
  id: "body-changed",
  title: "Refuses a body that was changed after it was signed",
  severity: "critical",
  why: "The signature must protect the content: otherwise a captured delivery can be altered and sent again.",
  advice:
    "Verify the signature over all bytes of every request; never remember a signature, an id or a sender as verified.",
  mends: ["exception"],
  async run(session) {
    const original = session.makeDelivery();
    const first = await session.deliver(original);
    if (!isAccepted(first)) return judgeNotAccepted(session, first, "the unchanged original");
    return expectRefused(session, [
      { label: "one byte, after the original was accepted", delivery: withOneByteChanged(original) },
      {
        label: "one byte, without an original before it",
        delivery: withOneByteChanged(session.makeDelivery()),
      },
      {
        label: "another event",
        delivery: changed(session.makeDelivery(), (text) => text.replace(/("event":"\w+)/, "$1s")),
      },
      {
        label: "blanks between its members",
        delivery: changed(session.makeDelivery(), (text) => JSON.stringify(JSON.parse(text), null, 1)),
      },
      { label: "its members in another order", delivery: changed(session.makeDelivery(), reversed) },
      { label: "a line end more", delivery: changed(session.makeDelivery(), (text) => `${text}\n`) },
    ]);
  },
};

/** The body stays valid JSON, the signature stays the original's. */
function changed(delivery: Delivery, rewrite: (text: string) => string): Delivery {
  return { ...delivery, body: Buffer.from(rewrite(delivery.body.toString("utf8"))) };
}

function reversed(text: string): string {
  return JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text) as object).reverse()));
}

/** The last character of the first text in the data: something that the receiver works with. */
function withOneByteChanged(delivery: Delivery): Delivery {
  return changed(delivery, (text) => {
    const value = /"data":\{.*?:"[^"\\]+(?=")|"timestamp":"[^"]+/s.exec(text)!;
    const at = value.index + value[0].length - 1;
    return text.slice(0, at) + (text[at] === "x" ? "y" : "x") + text.slice(at + 1);
  });
}
