import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { EditorState, Transaction, type Extension } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { look } from "./look.ts";

/** An editor on the page. */
export interface Mounted {
  /** Opens the field of the search. */
  search(): void;
  destroy(): void;
}

/** The original and the result of a mapping, side by side. */
export interface MountedDiff extends Mounted {
  /** Takes the place of a side's text. */
  show(side: "before" | "after", text: string): void;
}

/** The most changed characters that are compared exactly; longer ranges are compared by their ends. */
const scanLimit = 5_000;
/** How long a comparison may take before it becomes inexact, ms. */
const comparisonMs = 100;

/** Shows a text that can be searched and copied but not changed. `label` names it for screen readers. */
export function mountText(host: HTMLElement, text: string, label: string): Mounted {
  const root = rootIn(host);
  const view = new EditorView({ doc: text, parent: root, root, extensions: [common(text, label), readOnly] });
  return {
    search: () => openSearchPanel(view),
    destroy: () => view.destroy(),
  };
}

/** Shows a text with its differences from an earlier one: removed lines stand above the new ones. */
export function mountChanges(host: HTMLElement, { before, after, label }: {
  readonly before: string; readonly after: string; readonly label: string;
}): Mounted {
  const root = rootIn(host);
  const view = new EditorView({
    doc: after, parent: root, root, extensions: [
      common(after, label), readOnly,
      unifiedMergeView({ original: before, mergeControls: false, diffConfig: { scanLimit, timeout: comparisonMs } }),
    ],
  });
  return {
    search: () => openSearchPanel(view),
    destroy: () => view.destroy(),
  };
}

/** Shows two texts side by side with their differences. The first can be changed; `onChange` hears its new text. */
export function mountDiff(host: HTMLElement, { before, after, onChange }: {
  readonly before: { readonly text: string; readonly label: string };
  readonly after: { readonly text: string; readonly label: string };
  readonly onChange: (text: string) => void;
}): MountedDiff {
  const root = rootIn(host);
  const told = EditorView.updateListener.of(({ docChanged, state, transactions }) => {
    // Only changes by a person have a user event.
    if (docChanged && transactions.some((change) => change.annotation(Transaction.userEvent) !== undefined)) {
      onChange(state.doc.toString());
    }
  });
  const view = new MergeView({
    parent: root, root,
    a: { doc: before.text, extensions: [common(before.text, before.label), writable, told] },
    b: { doc: after.text, extensions: [common(after.text, after.label), readOnly] },
    diffConfig: { scanLimit, timeout: comparisonMs },
  });
  const sides = { before: view.a, after: view.b };
  return {
    search: () => openSearchPanel(view.b),
    show: (side, text) => {
      const { state } = sides[side];
      if (state.doc.toString() !== text) {
        sides[side].dispatch({ changes: { from: 0, to: state.doc.length, insert: text } });
      }
    },
    destroy: () => view.destroy(),
  };
}

const readOnly: Extension = [
  EditorState.readOnly.of(true),
  EditorView.contentAttributes.of({ "aria-readonly": "true" }),
];

/**
 * A selection that is typed over is replaced here: the browser would keep its look by an inline style, which the page's
 * policy refuses and reports.
 */
const typingOverSelections = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data, isComposing }, view) => {
    if (inputType !== "insertText" || data === null || isComposing || view.state.selection.main.empty) return false;
    view.dispatch(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

const writable: Extension = [history(), keymap.of(historyKeymap), typingOverSelections];

/** Texts longer than this have no colours: their parser would hold the page. */
const longestColoured = 1_000_000;

function common(text: string, label: string): Extension {
  return [
    lineNumbers(), highlightSpecialChars(), EditorView.lineWrapping, highlightSelectionMatches(),
    search({ top: true }), keymap.of([...searchKeymap, ...defaultKeymap]), look,
    text.length > longestColoured ? [] : json(),
    EditorView.contentAttributes.of({ "aria-label": label }),
  ];
}

/**
 * The shadow root of an element. Within one, editors adopt their style sheets, as the page's policy allows; outside
 * they would write style elements, which it refuses.
 */
function rootIn(host: HTMLElement): ShadowRoot {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  root.replaceChildren();
  return root;
}
