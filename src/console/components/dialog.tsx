import { type ReactNode, useState } from "react";
import { Dialog as AriaDialog, Button, Heading, Modal, ModalOverlay } from "react-aria-components";
import type { Change } from "./form.tsx";
import { Problem } from "./notice.tsx";

interface DialogProps {
  title: string;
  isOpen?: boolean;
  onClose: () => void;
  /** Closes on Escape or a click outside; false if an answer is required. */
  dismissable?: boolean;
  children: ReactNode;
}

export function Dialog({ title, isOpen = true, onClose, dismissable = true, children }: DialogProps) {
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      isDismissable={dismissable}
      isKeyboardDismissDisabled={!dismissable}
      onOpenChange={(open) => !open && onClose()}
    >
      <Modal className="modal">
        <AriaDialog className="dialog stack">
          <Heading slot="title">{title}</Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** A button that asks before an irreversible change, and shows its error. */
export function ConfirmButton({
  title,
  verb,
  change,
  label,
  className = "button danger",
  children,
}: {
  /** A question, such as "Delete usr_dan?". */
  title: string;
  /** Label of both buttons. */
  verb: string;
  change: Change<unknown>;
  /** Accessible name of the button, if other buttons say the same. */
  label?: string;
  className?: string;
  /** The consequences. */
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button className={className} aria-label={label} onPress={() => setOpen(true)}>
        {verb} …
      </Button>
      <Dialog title={title} isOpen={isOpen} onClose={close}>
        <p>{children}</p>
        <Problem error={change.error} />
        <div className="form-buttons">
          <Button
            className="button danger"
            isPending={change.isPending}
            onPress={() => change.mutate(undefined, { onSuccess: close })}
          >
            {verb}
          </Button>
          <Button className="button" onPress={close}>
            Cancel
          </Button>
        </div>
      </Dialog>
    </>
  );
}
