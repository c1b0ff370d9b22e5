import { useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useChange } from "../app/navigation.tsx";
import shared from "../style/shared.module.css";
import { FactLine } from "./fact-line.tsx";
import styles from "./fact-rows.module.css";
import type { Fact } from "./fact-words.ts";
import { Icon, icons } from "./icon.tsx";

/** Entries, a line each. The one that is open, by its position in the address, shows `children` below its line. */
export function FactRows<Item extends Fact>({ facts, about, children }: {
  readonly facts: readonly Item[];
  /** The thing that a line is about, in a column of its own. */
  readonly about?: (fact: Item) => ReactNode;
  readonly children: (fact: Item) => ReactNode;
}): ReactNode {
  const { open } = useSearch({ strict: false });
  const change = useChange();
  return (
    <ol className={styles.factRows}>
      {facts.map((fact) => {
        const isOpen = fact.position === open;
        return (
          <li key={fact.position}>
            <div className={styles.factRow}>
              <button
                type="button" className={shared.plain} aria-expanded={isOpen} aria-label="What it changed"
                onClick={() => change({ open: isOpen ? undefined : fact.position }, { replace: true })}
              >
                <Icon of={isOpen ? icons.chevronDown : icons.chevronRight} />
              </button>
              <FactLine fact={fact} />
              {about && <p className={styles.about}>{about(fact)}</p>}
            </div>
            {isOpen && <div className={styles.factOpen}>{children(fact)}</div>}
          </li>
        );
      })}
    </ol>
  );
}
