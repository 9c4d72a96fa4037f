import { useMutation } from "@tanstack/react-query";
import { Fragment, useEffect, useState } from "react";
import { Button } from "react-aria-components";
import type { StateRecord } from "../../../types/control-api.ts";
import { toSingular } from "../../engine/contract/text.ts";

/** "3,000". */
export function formatCount(count: number): string {
  return count.toLocaleString("en-GB");
}

/** "1 header", "3,000 headers"; `many` for irregular plurals. */
export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** "37 entries", or "7 of 37 entries" if a filter hides the others. */
export function formatShown(shown: number, total: number, one: string, many?: string): string {
  return `${shown === total ? "" : `${formatCount(shown)} of `}${pluralize(total, one, many)}`;
}

/** Name of one record of a collection: "delivery" of `deliveries`, "store file" of `store_files`. */
export function toSingularName(collection: string): string {
  return toSingular(collection).replaceAll("_", " ");
}

export function containsWords(text: string, typed: string): boolean {
  const lower = text.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

/** A path or URL that wraps after slashes only. */
export function PathText({ children }: { children: string }) {
  const parts = children.split(/(?<=\w\}?\/)/);
  return parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

/** A path or URL on one line. If too long, it is cut at its start, since its end tells rows apart. */
export function ClippedPath({ children }: { children: string }) {
  return (
    <span className="clip path-end">
      <bdi>{children}</bdi>
    </span>
  );
}

/** The source of a fault: "rule fault_1" for `inline/fault_1`, "rule first of scenario slow" for `slow/first`. */
export function formatRuleName(by: string): string {
  const [source, rule] = by.split("/");
  if (source === "header") return "the request’s own header";
  if (source === "start") return "the server’s --delay";
  return source === "inline" ? `rule ${rule}` : `rule ${rule} of scenario ${source}`;
}

/** "retry: returned 500 in 12 ms". */
export function describeAttempt(attempt: StateRecord<"deliveries">["attempt_log"][number]): string {
  const { kind, error, response_code, duration_ms, fault } = attempt;
  const by = fault === undefined ? "" : `, ${formatRuleName(fault.replace(/^fault:/, ""))}`;
  return `${kind}: ${error ?? `returned ${response_code}`} in ${duration_ms} ms${by}`;
}

export function TextWithCode({ children }: { children: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
  return children.split("`").map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part));
}

const FEEDBACK_MS = 1600;

/** Copies a text and confirms it. A function as `text` is called when the button is pressed. */
export function CopyButton(props: {
  text: string | (() => string | Promise<string>);
  label?: string;
  /** Accessible name, if it says more than the label. */
  name?: string;
  isSubtle?: boolean;
}) {
  const { text, label = "Copy", name, isSubtle } = props;
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
    <Button
      className={isSubtle ? "button subtle" : "button"}
      aria-label={feedback === undefined ? name : undefined}
      onPress={copy}
    >
      <span aria-live="polite">{feedback ?? label}</span>
    </Button>
  );
}

/** Downloads a value as a JSON file; a plain link could not send the token of a shared server. */
export function downloadJson(name: string, value: unknown): void {
  const text = JSON.stringify(value, null, 2);
  downloadFile(name, new Blob([text], { type: "application/json" }));
}

export function useDownload(download: () => Promise<void>) {
  return useMutation<void, Error, undefined>({ mutationFn: download });
}

export function downloadFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
