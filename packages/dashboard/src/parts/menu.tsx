import { useEffect, useId, useRef, useState, type CSSProperties, type ReactNode } from "react";
import { classes } from "../style/classes.ts";
import { Icon, icons } from "./icon.tsx";
import styles from "./menu.module.css";

/** The space between a menu and the edges of the window, px. */
const edgePx = 8;

/**
 * A button that opens a small menu below itself; a click elsewhere and Escape close it. Its content exists only while
 * it is open, and gets the focus.
 */
export function Menu({ title, name, className, startsOpen = false, onClose, children }: {
  /** The words on the button. */
  readonly title: ReactNode;
  /** The name of the menu for screen readers. */
  readonly name: string;
  readonly className?: string | undefined;
  readonly startsOpen?: boolean;
  readonly onClose?: () => void;
  readonly children: (close: () => void) => ReactNode;
}): ReactNode {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<CSSProperties>();
  useEffect(() => {
    if (startsOpen) menu.current?.showPopover();
  }, []);
  const isOpen = place !== undefined;
  useEffect(() => {
    if (isOpen) menu.current?.querySelector<HTMLElement>("input, select, button, a")?.focus();
  }, [isOpen]);
  return (
    <>
      <button
        ref={button} type="button" className={classes(styles.opener, className)} popoverTarget={id}
        aria-expanded={isOpen}
      >
        {title}<Icon of={icons.chevronDown} size={14} />
      </button>
      <div
        ref={menu} id={id} popover="auto" role="group" aria-label={name} className={styles.menu} style={place}
        onBeforeToggle={({ newState }) => {
          if (newState === "closed") return;
          const { left = 0, bottom = 0 } = button.current?.getBoundingClientRect() ?? {};
          setPlace({ left: Math.max(edgePx, Math.min(left, innerWidth - widthPx() - edgePx)), top: bottom + 4 });
        }}
        onToggle={({ newState }) => {
          if (newState === "open") return;
          setPlace(undefined);
          onClose?.();
        }}
      >
        {isOpen && children(() => menu.current?.hidePopover())}
      </div>
    </>
  );
}

/** The width of a menu, px: it is narrower only in a narrow window. */
function widthPx(): number {
  return Math.min(288, innerWidth - 2 * edgePx);
}
