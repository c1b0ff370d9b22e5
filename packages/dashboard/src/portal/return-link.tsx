import type { ReactNode } from "react";
import { Icon, icons } from "../parts/icon.tsx";

/** Leads back to the site that the visitor came from, out of its frame. */
export function ReturnLink({ url, className }: {
  readonly url: string; readonly className: string | undefined;
}): ReactNode {
  return (
    <a href={url} target="_top" rel="noreferrer" className={className}>
      <Icon of={icons.chevronLeft} size={14} /> <span>Back<span> to {new URL(url).hostname}</span></span>
    </a>
  );
}
