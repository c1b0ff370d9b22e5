import type { ReactNode } from "react";

/** A step: its number, whether the API says that it is done, and what to do. */
export function Step({ number, title, done, current, children }: {
  readonly number: number;
  readonly title: string;
  readonly done: boolean;
  readonly current: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <li className="step" aria-current={current ? "step" : undefined}>
      <span className={`step-mark ${done ? "ok" : "info"}`} aria-hidden="true">{done ? "✓" : number}</span>
      <div>
        <h2>{title} <span className="hidden-text">{done ? "(done)" : "(to do)"}</span></h2>
        {children}
      </div>
    </li>
  );
}
