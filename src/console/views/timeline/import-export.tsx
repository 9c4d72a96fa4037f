import { type DragEvent, type ReactNode, useState } from "react";
import { Button, FileTrigger } from "react-aria-components";
import { useSandboxName } from "../../address.ts";
import { sandboxCalls } from "../../api/calls.ts";
import { Problem } from "../../components/notice.tsx";
import { saveJson } from "../../components/text.tsx";
import { BundleTimeline, type OpenedBundle, parseBundle } from "./bundle-timeline.tsx";

export interface BundleOpening {
  /** Opens a file that the user selected or dropped. */
  open: (file: File) => void;
}

/**
 * Shows its children, or a bundle file that the user opened or dropped. The file stays in the browser, so a bundle has
 * no address.
 */
export function BundleDropZone({ children }: { children: (opening: BundleOpening) => ReactNode }) {
  const [opened, setOpened] = useState<OpenedBundle>();
  const [error, setError] = useState<unknown>();
  const open = (file: File) => {
    setError(undefined);
    file
      .text()
      .then((text) => setOpened({ file: file.name, bundle: parseBundle(text) }))
      .catch(setError);
  };
  const onDrop = (event: DragEvent) => {
    const [file] = event.dataTransfer.files;
    if (file === undefined) return;
    event.preventDefault();
    open(file);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button does the same
    <div
      className="drop-here"
      onDrop={onDrop}
      onDragOver={(event) => event.dataTransfer.types.includes("Files") && event.preventDefault()}
    >
      <Problem error={error} />
      {opened ? (
        <BundleTimeline key={opened.file} {...opened} onClose={() => setOpened(undefined)} />
      ) : (
        children({ open })
      )}
    </div>
  );
}

export function OpenBundleButton({ open }: BundleOpening) {
  return (
    <FileTrigger
      acceptedFileTypes={["application/json", ".json"]}
      onSelect={(files) => files?.[0] && open(files[0])}
    >
      <Button className="button">Open bundle</Button>
    </FileTrigger>
  );
}

/** Exports the journal as HAR, or the sandbox as a bundle for `understudy replay`. */
export function Exports() {
  const sandbox = useSandboxName();
  const [error, setError] = useState<unknown>();
  const save = async (name: string, ask: () => Promise<unknown>) => {
    setError(undefined);
    try {
      saveJson(name, await ask());
    } catch (failure) {
      setError(failure);
    }
  };
  const calls = sandboxCalls(sandbox);
  return (
    <>
      <div className="actions">
        <Button className="button" onPress={() => save(`${sandbox}.har`, calls.archive)}>
          Export HAR
        </Button>
        <Button className="button" onPress={() => save(`${sandbox}.bundle.json`, calls.bundle)}>
          Export bundle
        </Button>
      </div>
      <Problem error={error} />
    </>
  );
}
