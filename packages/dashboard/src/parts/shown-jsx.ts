import type { ElementType, Key, ReactElement } from "react";
import { Fragment, jsx as element, jsxs as elements } from "react/jsx-runtime";
import { shownText } from "./shown-text.ts";

export { Fragment, type JSX } from "react/jsx-runtime";

type Props = Readonly<Record<string, unknown>>;

/** Attributes that a page shows, or that a screen reader says. Values of fields are not among them. */
const shownAttributes = ["title", "aria-label", "placeholder"];
/** Elements that keep line breaks. */
const withLines: ReadonlySet<unknown> = new Set(["pre", "code"]);
/** Elements that take text only. */
const textOnly: ReadonlySet<unknown> = new Set(["option", "title"]);
/** Letters from right to left, with the signs between them that are not Latin letters. */
const rightToLeft =
  /([\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC](?:[^\p{Script=Latin}]*[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC])?)/u;

/**
 * Makes an element as React does, whose texts show as {@link shownText} says, and whose letters from right to left keep
 * their direction to themselves. It makes every part of the pages, so that no page has to escape names.
 */
export function jsx(type: ElementType, props: Props, key?: Key): ReactElement {
  return element(type, shownProps(type, props), key);
}

/** As {@link jsx}, of an element with several children. */
export function jsxs(type: ElementType, props: Props, key?: Key): ReactElement {
  return elements(type, shownProps(type, props), key);
}

function shownProps(type: ElementType, props: Props): Props {
  const shown: Record<string, unknown> = { ...props };
  for (const name of shownAttributes) {
    const value = props[name];
    if (typeof value === "string") shown[name] = shownText(value);
  }
  if (type !== "textarea" && "children" in props) shown["children"] = shownChild(type, props["children"]);
  return shown;
}

function shownChild(type: ElementType, child: unknown): unknown {
  if (Array.isArray(child)) return child.map((one) => shownChild(type, one));
  if (typeof child !== "string") return child;
  const text = withLines.has(type) ? child.split("\n").map(shownText).join("\n") : shownText(child);
  if (textOnly.has(type) || !rightToLeft.test(text)) return text;
  // A text that is split at a group has the group's matches at odd places.
  const parts = text.split(rightToLeft)
    .map((part, place) => (place % 2 === 0 ? part : element("bdi", { children: part })));
  return elements(Fragment, { children: parts });
}
