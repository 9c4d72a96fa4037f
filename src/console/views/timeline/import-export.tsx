import { useMutation } from "@tanstack/react-query";
import { type DragEvent, type ReactNode, useEffect } from "react";
import { Button, FileTrigger } from "react-aria-components";
import { useLocation, useSearch } from "wouter";
import { toAddress, useSandboxName } from "../../address.ts";
import { createSandboxCalls, server } from "../../api/calls.ts";
import { ActionButton, Dialog, DialogButton } from "../../components/button.tsx";
import { Problem } from "../../components/status.tsx";
import { downloadFile, downloadJson, useDownload } from "../../components/text.tsx";
import { BundleTimeline, type OpenedBundle, readBundle } from "./bundle-timeline.tsx";

export type OpenFile = (file: File) => void;

/**
 * Shows its children, or a bundle that the user opened or dropped. A bundle stays in the browser, so it has no address;
 * an exported sandbox is uploaded and becomes a sandbox of this server.
 */
export function FileDropZone({ children }: { children: (open: OpenFile) => ReactNode }) {
  const [, navigate] = useLocation();
  const { data, error, mutate, reset } = useMutation<OpenedBundle | undefined, Error, File>({
    mutationFn: async (file) => {
      await requireReadable(file);
      if (!(await isExportedSandbox(file))) return readBundle(file);
      const { name } = await server.openFile(await toBase64(file));
      navigate(toAddress(name, "timeline"));
      return undefined;
    },
  });
  const search = useSearch();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the palette may lead from a bundle to an entry
  useEffect(reset, [search]);
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

export function OpenFileButton({ open }: { open: OpenFile }) {
  return (
    <FileTrigger
      acceptedFileTypes={["application/json", ".json", ".understudy"]}
      onSelect={(files) => files?.[0] && open(files[0])}
    >
      <Button className="button">Open export</Button>
    </FileTrigger>
  );
}

export function Exports() {
  const sandbox = useSandboxName();
  const calls = createSandboxCalls(sandbox);
  const har = useDownload(async () => downloadJson(`${sandbox}.har`, await calls.archive()));
  const bundle = useDownload(async () => downloadJson(`${sandbox}.bundle.json`, await calls.bundle()));
  const file = useDownload(async () => downloadFile(`${sandbox}.understudy`, await calls.exportFile()));
  return (
    <DialogButton label="Export …">
      {(close) => (
        <Dialog title="Export" onClose={close}>
          <ul className="stack">
            <li className="flow">
              <ActionButton label="Export sandbox" change={file} look="primary" />
              <span>
                All data and the timeline, for <code>understudy open</code> or a static site by{" "}
                <code>understudy viewer DIR</code>.
              </span>
            </li>
            <li className="flow">
              <ActionButton label="Export bundle" change={bundle} />
              <span>
                The requests from the start, for <code>understudy replay</code>.
              </span>
            </li>
            <li className="flow">
              <ActionButton label="Export HAR" change={har} />
              <span>Requests and responses, for browsers and proxies.</span>
            </li>
          </ul>
          <p className="quiet">Secrets are masked, or replaced by fakes of the same form.</p>
          <Problem error={har.error ?? bundle.error ?? file.error} />
          <div className="actions">
            <ActionButton label="Close" onPress={close} />
          </div>
        </Dialog>
      )}
    </DialogButton>
  );
}

/** @throws Error for a folder that was dropped, or a file that may not be read */
async function requireReadable(file: File): Promise<void> {
  await file
    .slice(0, 1)
    .arrayBuffer()
    .catch(() => {
      throw new Error(`${file.name} cannot be read. Open a file, not a folder.`);
    });
}

/** An exported sandbox is compressed by gzip. */
async function isExportedSandbox(file: File): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  return file.name.endsWith(".understudy") || (first === 0x1f && second === 0x8b);
}

function toBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
