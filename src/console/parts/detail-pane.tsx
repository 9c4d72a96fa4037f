import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "react-aria-components";

const LIST = "[role=grid], [role=treegrid]";

/**
 * What belongs to the chosen row: beside the list where there is room, over it where there is none. Opened by a key
 * it takes the focus; Escape closes it, here and in the list, and the focus is where it was.
 */
export function DetailPane({
  title,
  label,
  onClose,
  actions,
  children,
}: {
  title: ReactNode;
  label: string;
  onClose: () => void;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = pane.current!;
    const around = element.parentElement!;
    const close = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      const at = event.target as Element;
      if (element.contains(at) || at.matches(LIST)) onClose();
    };
    around.addEventListener("keydown", close);
    return () => around.removeEventListener("keydown", close);
  }, [onClose]);
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    if (opener?.matches(LIST) && opener.matches(":focus-visible")) pane.current!.focus();
    return () => {
      // Whoever closed it would otherwise be nowhere.
      if (document.activeElement === document.body && opener?.isConnected) opener.focus();
    };
  }, []);
  return (
    <section ref={pane} className="detail appear" aria-label={label} tabIndex={-1}>
      <header className="detail-head">
        <h2>{title}</h2>
        <Button className="button subtle icon-button" aria-label="Close" onPress={onClose}>
          ✕
        </Button>
      </header>
      {actions && <div className="actions">{actions}</div>}
      <div className="detail-body">{children}</div>
    </section>
  );
}
