import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "react-aria-components";

/** What belongs to the chosen row: beside the list where there is room, over it where there is none. */
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
    const close = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) onClose();
    };
    element.addEventListener("keydown", close);
    return () => element.removeEventListener("keydown", close);
  }, [onClose]);
  return (
    <section ref={pane} className="detail appear" aria-label={label}>
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
