import type { ReactNode } from "react";
import { Dialog as AriaDialog, Button, Heading, Modal, ModalOverlay } from "react-aria-components";
import { Problem } from "./notice.tsx";

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** Closes on Escape or a click outside; false if an answer is required. */
  dismissable?: boolean;
  children: ReactNode;
}

export function Dialog({ title, isOpen, onClose, dismissable = true, children }: DialogProps) {
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      isDismissable={dismissable}
      isKeyboardDismissDisabled={!dismissable}
      onOpenChange={(open) => !open && onClose()}
    >
      <Modal className="modal">
        <AriaDialog className="dialog">
          <Heading slot="title">{title}</Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ConfirmProps {
  /** A question, such as "Delete usr_dan?". */
  title: string;
  /** Label of the confirming button. */
  verb: string;
  onConfirm: () => void;
  onClose: () => void;
  pending: boolean;
  error?: unknown;
  /** The consequences. */
  children: ReactNode;
}

/** Asks before an irreversible change, and shows its error. */
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
