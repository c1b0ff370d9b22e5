import { useRef, useState, type CSSProperties, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import { keep, readKept } from "../../app/kept.ts";
import styles from "./events.module.css";

/** The panel's part of the width, in percent. The list keeps its status, key and destination beside it. */
const [least, usual, most] = [30, 52, 66];
const step = 2;
const name = "relay-panel-width";

/** The width of the panel, which this browser keeps, and the handle that changes it by the pointer and by arrows. */
export function usePanelWidth(): { readonly style: CSSProperties; readonly handle: ReactNode } {
  const [width, setWidth] = useState(() => bounded(readKept(name)));
  const dragged = useRef(false);
  const change = (to: number) => {
    const changed = bounded(to);
    setWidth(changed);
    keep(name, changed);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: width + step, ArrowRight: width - step, Home: most, End: least,
    };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    change(to);
  };
  const onPointerMove = ({ clientX, currentTarget }: PointerEvent) => {
    const box = currentTarget.parentElement?.getBoundingClientRect();
    if (dragged.current && box) change((box.right - clientX) / box.width * 100);
  };
  return {
    style: { "--panel": `${width}%` } as CSSProperties,
    handle: (
      <div
        className={styles.handle} role="separator" tabIndex={0} aria-orientation="vertical"
        aria-label="Width of the panel" aria-valuenow={width} aria-valuemin={least} aria-valuemax={most}
        onKeyDown={onKeyDown} onDoubleClick={() => change(usual)} onPointerMove={onPointerMove}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          dragged.current = true;
        }}
        onPointerUp={() => {
          dragged.current = false;
        }}
      />
    ),
  };
}

function bounded(width: unknown): number {
  return typeof width === "number" && width > 0 ? Math.round(Math.min(most, Math.max(least, width))) : usual;
}
