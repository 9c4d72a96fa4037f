import { useMutation } from "@tanstack/react-query";
import type { DragEvent, ReactNode } from "react";
import { Button, FileTrigger } from "react-aria-components";
import { useSandboxName } from "../../address.ts";
import { sandboxCalls } from "../../api/calls.ts";
import { ActionButton } from "../../components/button.tsx";
import { Problem } from "../../components/notice.tsx";
import { saveJson } from "../../components/text.tsx";
import { BundleTimeline, readBundle } from "./bundle-timeline.tsx";

/** Opens a file that the user selected or dropped. */
export type OpenFile = (file: File) => void;

/**
 * Shows its children, or a bundle file that the user opened or dropped. The file stays in the browser, so a bundle has
 * no address.
 */
export function BundleDropZone({ children }: { children: (open: OpenFile) => ReactNode }) {
  const { data, error, mutate, reset } = useMutation<Awaited<ReturnType<typeof readBundle>>, Error, File>({
    mutationFn: readBundle,
  });
  const onDrop = (event: DragEvent) => {
    const [file] = event.dataTransfer.files;
    if (file === undefined) return;
    event.preventDefault();
    mutate(file);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button does the same
    <div
      className="drop-here stack grow"
      onDrop={onDrop}
      onDragOver={(event) => event.dataTransfer.types.includes("Files") && event.preventDefault()}
    >
      <Problem error={error} />
      {data ? <BundleTimeline key={data.file} {...data} onClose={reset} /> : children(mutate)}
    </div>
  );
}

export function OpenBundleButton({ open }: { open: OpenFile }) {
  return (
    <FileTrigger
      acceptedFileTypes={["application/json", ".json"]}
      onSelect={(files) => files?.[0] && open(files[0])}
    >
      <Button className="button">Open bundle</Button>
    </FileTrigger>
  );
}

export function Exports() {
  const sandbox = useSandboxName();
  const calls = sandboxCalls(sandbox);
  const har = useMutation({ mutationFn: async () => saveJson(`${sandbox}.har`, await calls.archive()) });
  const bundle = useMutation({
    mutationFn: async () => saveJson(`${sandbox}.bundle.json`, await calls.bundle()),
  });
  return (
    <>
      <div className="actions">
        <ActionButton label="Export HAR" onPress={har.mutate} />
        <ActionButton label="Export bundle" onPress={bundle.mutate} />
      </div>
      <Problem error={har.error ?? bundle.error} />
    </>
  );
}
