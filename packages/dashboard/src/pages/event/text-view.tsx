import { useEffect, useId, useMemo, useRef, useState, type ReactNode } from "react";
import { Copy } from "../../parts/copy.tsx";
import { formatJson } from "./format-json.ts";

/** The most places of a text that a search marks. */
const mostMarks = 1_000;
/** Characters that no font shows, or that move others on the line. Line ends and tabs are shown as such. */
const unseen = /((?![\n\t])[\p{Cc}\p{Bidi_C}])/u;

/** A hostile text, shown to the letter, with a search. JSON can be read with a line for each member. */
export function TextView({ text, name }: { readonly text: string; readonly name: string }): ReactNode {
  const formatted = useMemo(() => formatJson(text), [text]);
  const [isRaw, setRaw] = useState(false);
  const [wanted, setWanted] = useState("");
  const [current, setCurrent] = useState(0);
  const content = useRef<HTMLPreElement>(null);
  const search = useId();
  const shown = isRaw ? text : formatted ?? text;
  const places = useMemo(() => placesOf(shown, wanted), [shown, wanted]);
  useEffect(() => {
    content.current?.querySelector("[data-current=true]")?.scrollIntoView({ block: "nearest" });
  }, [current, places]);
  const status = wanted === "" ? "" : places.length === 0 ? "not found"
    : `${current + 1} of ${places.length === mostMarks ? `${mostMarks} or more` : places.length}`;
  return (
    <div className="text-view">
      <div className="text-tools">
        <label htmlFor={search} className="hidden-text">Search in {name}</label>
        <input
          id={search} type="search" placeholder="Search" value={wanted} onChange={({ target }) => {
            setWanted(target.value);
            setCurrent(0);
          }}
          onKeyDown={({ key, shiftKey }) => {
            if (key !== "Enter" || places.length === 0) return;
            setCurrent((current + (shiftKey ? places.length - 1 : 1)) % places.length);
          }}
        />
        <span className="small" role="status">{status}</span>
        {formatted !== undefined && formatted !== text && (
          <button type="button" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>As it is</button>
        )}
        <Copy text={text} label={`Copy ${name}`} />
      </div>
      <pre ref={content} className="hostile" tabIndex={0} aria-label={name}>
        {marked(shown, places, wanted.length, current)}
      </pre>
    </div>
  );
}

function placesOf(text: string, wanted: string): number[] {
  const places: number[] = [];
  if (wanted === "") return places;
  let at = text.indexOf(wanted);
  while (at >= 0 && places.length < mostMarks) {
    places.push(at);
    at = text.indexOf(wanted, at + wanted.length);
  }
  return places;
}

function marked(text: string, places: readonly number[], length: number, current: number): ReactNode[] {
  const ends = [0, ...places.map((at) => at + length)];
  return ends.flatMap((from, index) => {
    const at = places[index];
    const before = literal(text.slice(from, at ?? text.length), `${from}-`);
    if (at === undefined) return before;
    return [...before, (
      <mark key={`mark ${at}`} data-current={index === current}>{literal(text.slice(at, at + length), `${at}m`)}</mark>
    )];
  });
}

/** A text as it is; characters that cannot be seen as their code points. */
function literal(text: string, key: string): ReactNode[] {
  return text.split(unseen).map((piece, index) => {
    if (index % 2 === 0) return piece;
    const code = `U+${(piece.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
    return <span key={`${key}${index}`} className="unseen">{code}</span>;
  });
}
