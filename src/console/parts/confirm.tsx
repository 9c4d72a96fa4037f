import type { ReactNode } from "react";
import { Button } from "react-aria-components";
import { Dialog } from "./dialog.tsx";
import { Problem } from "./notice.tsx";

interface ConfirmProps {
  /** A question, such as "Delete usr_dan?". */
  title: string;
  /** The word on the button that does it. */
  verb: string;
  onConfirm: () => void;
  onClose: () => void;
  pending: boolean;
  error?: unknown;
  /** What will be, and what stays. */
  children: ReactNode;
}

/** Asks before something changes for good; a refusal is told where it was asked. */
export function Confirm({ title, verb, onConfirm, onClose, pending, error, children }: ConfirmProps) {
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      {children}
      <Problem error={error} />
      <div className="form-buttons">
        <Button className="button danger" isPending={pending} onPress={onConfirm}>
          {verb}
        </Button>
        <Button className="button" onPress={onClose}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}
