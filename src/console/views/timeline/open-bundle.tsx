import { type DragEvent, type ReactNode, useState } from "react";
import { Button, FileTrigger } from "react-aria-components";
import { Problem } from "../../parts/notice.tsx";
import { bundleIn } from "./bundle-file.ts";
import { BundleTimeline, type OpenedBundle } from "./bundle-timeline.tsx";

export interface BundleOpening {
  /** A file that somebody chose or dropped. */
  open: (file: File) => void;
}

/**
 * The timeline, or in its place a bundle that was chosen or dropped on it. A file of this machine has no address;
 * it is read here and sent nowhere.
 */
export function WithBundles({ children }: { children: (opening: BundleOpening) => ReactNode }) {
  const [opened, setOpened] = useState<OpenedBundle>();
  const [error, setError] = useState<unknown>();
  const open = (file: File) => {
    setError(undefined);
    file
      .text()
      .then((text) => setOpened({ file: file.name, bundle: bundleIn(text) }))
      .catch(setError);
  };
  const onDrop = (event: DragEvent) => {
    const [file] = event.dataTransfer.files;
    if (file === undefined) return;
    event.preventDefault();
    open(file);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button does the same for the keyboard
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
      <Button className="button">Open a bundle</Button>
    </FileTrigger>
  );
}
