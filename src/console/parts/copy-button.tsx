import { useEffect, useState } from "react";
import { Button } from "react-aria-components";

const SAID_MS = 1600;

/** Copies a text, and says so; `text` may be made when it is asked for. */
export function CopyButton({
  text,
  label = "Copy",
  subtle = false,
}: {
  text: string | (() => string | Promise<string>);
  label?: string;
  subtle?: boolean;
}) {
  const [said, setSaid] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => setSaid(undefined), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
      setSaid("Copied");
    } catch {
      // Off loopback without TLS a browser has no clipboard for pages.
      setSaid("The browser refused");
    }
  };
  return (
    <Button className={subtle ? "button subtle" : "button"} onPress={copy}>
      <span aria-live="polite">{said ?? label}</span>
    </Button>
  );
}
