import { Fragment, useEffect, useState } from "react";
import { Button } from "react-aria-components";

/** "1 header", "3,000 headers"; `many` for irregular plurals. */
export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-GB")} ${count === 1 ? one : many}`;
}

/** Name of one record of a collection: "delivery" of `deliveries`, "store file" of `store_files`. */
export function singularName(collection: string): string {
  return collection.replaceAll("_", " ").replace(/ies$/, "y").replace(/s$/, "");
}

/** A path or URL that wraps after slashes only. */
export function PathText({ children }: { children: string }) {
  const parts = children.split(/(?<=\w\}?\/)/);
  return parts.map((part, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
    <Fragment key={place}>
      {place > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

const FEEDBACK_MS = 1600;

/** Copies a text and confirms it. A function as `text` is called when the button is pressed. */
export function CopyButton({
  text,
  label = "Copy",
  subtle = false,
}: {
  text: string | (() => string | Promise<string>);
  label?: string;
  subtle?: boolean;
}) {
  const [feedback, setFeedback] = useState<string>();
  useEffect(() => {
    if (feedback === undefined) return;
    const timer = setTimeout(() => setFeedback(undefined), FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [feedback]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
      setFeedback("Copied");
    } catch {
      // Browsers have no clipboard API on other hosts than localhost without HTTPS.
      setFeedback("Clipboard not available");
    }
  };
  return (
    <Button className={subtle ? "button subtle" : "button"} onPress={copy}>
      <span aria-live="polite">{feedback ?? label}</span>
    </Button>
  );
}

/** Downloads a text as a file; a plain link could not send the token of a shared server. */
export function saveFile(name: string, text: string, type = "application/json"): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
