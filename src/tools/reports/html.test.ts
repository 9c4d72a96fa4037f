import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Html, html } from "./html.ts";

describe("the html template", () => {
  it("escapes interpolated values once, also in lists and nested templates", () => {
    const name = `<b title="x">&'`;
    const escaped = "&lt;b title=&quot;x&quot;&gt;&amp;&#39;";
    expect(`${html`<p>${name}</p>`}`).toBe(`<p>${escaped}</p>`);
    expect(`${html`<ul>${[name, html`<li>${name}</li>`]}</ul>`}`).toBe(
      `<ul>${escaped}<li>${escaped}</li></ul>`,
    );
    expect(`${html`${html`<i>${1}</i>`}${new Html("<hr>")}`}`).toBe("<i>1</i><hr>");
  });

  it("escapes every text for the place where it is put", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("<", ">", '"', "'", "&", "`", "=", " ", "a", "/") }),
        (text) => {
          const place = `${html`<p title="${text}">${text}</p>`}`;
          expect(place).toMatch(/^<p title="[^"<>]*">[^<>]*<\/p>$/);
        },
      ),
    );
  });

  it("refuses an attribute without quotes, for which no escaping is safe", () => {
    expect(() => html`<p title=${"a onclick=b"}>`).toThrow(TypeError);
  });
});
