import { useEffect, useState } from "react";

/** The width of the element with this `ref`, in pixels; 0 at first. */
export function useWidth<E extends Element>() {
  const [element, ref] = useState<E | null>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element === null) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [element]);
  return { ref, width };
}
