import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--ground)", font: "var(--mono)", maxHeight: "60vh" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { font: "var(--mono)" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--ink-2)", backgroundColor: "var(--ground-2)", borderRight: "1px solid var(--line)" },
  ".cm-specialChar": { color: "var(--bad)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--wait) 35%, transparent)" },
  ".cm-searchMatch-selected": { outline: "2px solid var(--wait)" },
  ".cm-panels": { color: "var(--ink)", backgroundColor: "var(--ground-2)", borderColor: "var(--line)" },
  ".cm-panel.cm-search": {
    font: "var(--text)", padding: "var(--space-1) var(--space-6) var(--space-1) var(--space-2)",
  },
  ".cm-panel.cm-search label": { fontSize: "var(--size-s)", whiteSpace: "nowrap" },
  ".cm-panel.cm-search input[type=checkbox]": { verticalAlign: "middle" },
  ".cm-textfield, .cm-button": {
    color: "var(--ink)", background: "var(--ground)", border: "1px solid var(--edge)", borderRadius: "var(--radius)",
    minHeight: "24px", font: "var(--text)", fontSize: "var(--size-s)",
  },
  ".cm-panel.cm-search [name=close]": {
    color: "var(--ink)", minWidth: "24px", minHeight: "24px", fontSize: "var(--size-l)",
  },
});

/** On the ground of changed text only ink has the contrast that people need, not the colours of its parts. */
const merge = EditorView.theme({
  "&.cm-merge-a .cm-changedLine, &.cm-merge-b .cm-changedLine": { backgroundColor: "transparent" },
  ".cm-changedText, .cm-changedText *, .cm-deletedChunk *": { color: "var(--ink)" },
  "&.cm-merge-a .cm-changedText": {
    background: "color-mix(in srgb, var(--bad) 16%, transparent)", borderBottom: "1px solid var(--bad)",
  },
  ".cm-deletedChunk": { backgroundColor: "color-mix(in srgb, var(--bad) 8%, transparent)", paddingLeft: "6px" },
  ".cm-deletedChunk .cm-deletedText": {
    color: "var(--ink)", background: "color-mix(in srgb, var(--bad) 16%, transparent)", textDecoration: "none",
  },
  ".cm-deletedChunk del": { textDecoration: "none" },
  ".cm-deletedLineGutter": { background: "var(--bad)" },
  "&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine": {
    backgroundColor: "color-mix(in srgb, var(--ok) 6%, transparent)",
  },
  "&.cm-merge-b .cm-changedText": {
    background: "color-mix(in srgb, var(--ok) 18%, transparent)", borderBottom: "1px solid var(--ok)",
  },
  "&.cm-merge-a .cm-changedLineGutter": { background: "var(--bad)" },
  "&.cm-merge-b .cm-changedLineGutter": { background: "var(--ok)" },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--wait)" },
  { tag: tags.string, color: "var(--ink)" },
  { tag: tags.punctuation, color: "var(--ink-2)" },
]);

/** The look of all editors, by the tokens of the page; they reach into shadow roots. */
export const look: Extension = [theme, merge, syntaxHighlighting(colours)];
