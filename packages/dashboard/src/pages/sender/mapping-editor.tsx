import { useSearch } from "@tanstack/react-router";
import type { Schemas } from "@webhook-relay/client";
import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { relay } from "../../api/relay.ts";
import { useChange } from "../../app/navigation.tsx";
import { Copy } from "../../parts/copy.tsx";
import type { MountedDiff } from "../../parts/editor/chunk.ts";
import { useEditors } from "../../parts/editor/use-editors.ts";
import { Failure, Loading, NotForYou, textOf } from "../../parts/states.tsx";
import { momentText } from "../../parts/times.ts";
import { markUnsaved, tellUnsaved } from "../../parts/unsaved.ts";
import shared from "../../style/shared.module.css";
import { SenderChangedSince, useSenderChanged } from "./changed.tsx";
import { NewestTrial } from "./newest-trial.tsx";
import { useOriginal, useRecordedEvents } from "./recorded.ts";
import styles from "./sender.module.css";
import { useTried } from "./tried.ts";

const example = '{"data":{"id":4711,"lines":[{"price":19.90}]}}';

/** An expression that a person typed, and the saved one that they began with. */
interface Typed {
  readonly expression: string;
  readonly from: string;
  /** When the sender had been changed last. */
  readonly since: string;
}

/** Tries a mapping on a recorded event or a pasted text while a person types, and saves it. */
export function MappingEditor({ sender, mayChange }: {
  readonly sender: Schemas["Sender"]; readonly mayChange: boolean;
}): ReactNode {
  const id = useId();
  const { event: chosen } = useSearch({ from: "/signed-in/senders/$id" });
  const change = useChange();
  const events = useRecordedEvents(sender.id);
  const eventId = chosen === "none" ? undefined : chosen ?? events.data?.[0]?.id;
  const original = useOriginal(eventId);
  const isLoading = original.isLoading || (eventId === undefined && events.isLoading);
  const recorded = original.data ?? (eventId === undefined && !isLoading ? example : undefined);
  const [pasted, setPasted] = useState<string>();
  const saved = sender.mapping?.expression ?? "";
  const [typed, setTyped] = useState<Typed>();
  const expression = typed?.expression ?? saved;
  const type = (text: string | undefined) => {
    setTyped(text === undefined ? undefined : {
      from: typed?.from ?? saved, since: typed?.since ?? sender.updatedAt, expression: text,
    });
  };
  /** Keeps the text that was typed while another was being saved. */
  const settle = (expression: string, since: string) => {
    setTyped((typed) => (typed && typed.expression !== expression ? { ...typed, from: expression, since } : undefined));
  };
  const payload = pasted ?? recorded;
  const tried = useTried(expression, payload);
  const choose = (event: string) => {
    setPasted(undefined);
    change({ event }, { replace: true });
  };
  return (
    <section className={styles.mapping} aria-label="Mapping">
      <Expression
        sender={sender} mayChange={mayChange} expression={expression} change={type} saved={settle}
        meanwhile={mayChange && typed && typed.from !== saved && typed.expression !== saved
          && <SenderChangedSince id={sender.id} moment={typed.since} />}
        problem={tried.problem?.at === "expression" ? tried.problem.text : undefined}
      />
      <div className={styles.originalChoice}>
        <label htmlFor={id}>Recorded event</label>
        <select
          id={id} value={pasted === undefined ? eventId ?? "none" : "pasted"}
          onChange={({ target }) => choose(target.value)}
        >
          {pasted !== undefined && <option value="pasted">changed by hand</option>}
          {(events.data ?? []).map(({ id, acceptedAt, eventType }) => (
            <option key={id} value={id}>
              {[momentText(acceptedAt, "UTC"), "UTC", eventType ?? "", id.slice(0, 13)].filter(Boolean).join(" ")}
            </option>
          ))}
          {chosen !== undefined && chosen !== "none" && !events.data?.some(({ id }) => id === chosen) && (
            <option value={chosen}>{chosen}</option>
          )}
          <option value="none">an example</option>
        </select>
        <small>The text on the left can be changed, or another one pasted.</small>
      </div>
      <NewestTrial senderId={sender.id} expression={expression} />
      {original.error !== null && <Failure error={original.error} retry={() => void original.refetch()} />}
      {tried.problem?.at === "original" && <p className={shared.problem} role="alert">{tried.problem.text}</p>}
      {payload === undefined
        ? original.error === null && (isLoading ? <Loading /> : <NotForYou />)
        : (
          <Preview
            recorded={recorded ?? ""} isPasted={pasted !== undefined} paste={setPasted}
            result={tried.text ?? ""} isTrying={tried.isTrying}
          />
        )}
    </section>
  );
}

function Expression({ sender, mayChange, expression, change, saved, problem, meanwhile }: {
  readonly sender: Schemas["Sender"];
  readonly mayChange: boolean;
  readonly expression: string;
  /** Takes a typed expression; undefined for the saved one. */
  readonly change: (expression: string | undefined) => void;
  /** Takes the expression that was saved, and when. */
  readonly saved: (expression: string, updatedAt: string) => void;
  readonly problem: string | undefined;
  /** The changes of the saved one since the person began to type. */
  readonly meanwhile: ReactNode;
}): ReactNode {
  const id = useId();
  const changed = useSenderChanged();
  const [state, setState] = useState<"idle" | "saving" | "saved">("idle");
  const [refused, setRefused] = useState<{ readonly expression: string; readonly text: string }>();
  const isSaved = expression === (sender.mapping?.expression ?? "");
  const shown = refused?.expression === expression ? refused.text : problem;
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (form.current) markUnsaved(form.current, mayChange && !isSaved);
  }, [mayChange, isSaved]);
  useEffect(() => tellUnsaved, []);
  const save = async () => {
    setState("saving");
    const mapping = expression.trim() === "" ? null : { language: "jmespath" as const, expression };
    try {
      const { updatedAt } = await relay.updateSender({ id: sender.id }, { mapping });
      await changed();
      saved(expression, updatedAt);
      setState("saved");
    } catch (error) {
      setRefused({ expression, text: textOf(error) });
      setState("idle");
    }
  };
  return (
    <form ref={form} className={styles.expression} onSubmit={(event) => {
      event.preventDefault();
      void save();
    }}>
      <label htmlFor={id}>JMESPath expression</label>
      <textarea
        id={id} rows={4} spellCheck={false} value={expression} maxLength={4_096}
        aria-invalid={shown !== undefined} aria-describedby={`${id}-hint ${id}-problem`}
        onChange={({ target }) => {
          setRefused(undefined);
          if (state === "saved") setState("idle");
          change(target.value);
        }}
      />
      <small id={`${id}-hint`}>It yields the object that is delivered. Without one, events pass unchanged.</small>
      <p className={shared.problem} id={`${id}-problem`} role="alert">{shown}</p>
      {meanwhile}
      {mayChange && (
        <p className={shared.acts}>
          <button type="submit" className={shared.primary} disabled={isSaved || state === "saving"}>
            {expression.trim() === "" && sender.mapping ? "Remove the mapping" : "Save the mapping"}
          </button>
          <button type="button" disabled={isSaved} onClick={() => change(undefined)}>
            As it was saved
          </button>
          {state === "saved" && isSaved && (
            <span role="status" className={shared.ok}>✓ Saved. The next event is mapped by it.</span>
          )}
        </p>
      )}
    </form>
  );
}

function Preview({ recorded, isPasted, paste, result, isTrying }: {
  readonly recorded: string;
  /** Whether the text at the left is a person's, in place of the recorded one. */
  readonly isPasted: boolean;
  readonly paste: (text: string) => void;
  readonly result: string;
  readonly isTrying: boolean;
}): ReactNode {
  const { module: editors, error } = useEditors();
  const host = useRef<HTMLDivElement>(null);
  const diff = useRef<MountedDiff>(undefined);
  useEffect(() => {
    if (!editors || !host.current) return;
    const view = editors.mountDiff(host.current, {
      before: { text: "", label: "Original" }, after: { text: "", label: "Result" }, onChange: paste,
    });
    diff.current = view;
    return () => view.destroy();
  }, [editors, paste]);
  useEffect(() => {
    if (editors && !isPasted) diff.current?.show("before", editors.indented(recorded));
  }, [editors, recorded, isPasted]);
  useEffect(() => {
    if (editors) diff.current?.show("after", editors.indented(result));
  }, [editors, result]);
  if (error !== undefined) return <Failure error={error} />;
  if (!editors) return <Loading lines={10} />;
  return (
    <div className={styles.preview} data-trying={isTrying} data-empty={result === ""}>
      <div className={styles.previewHeads}>
        <h2>Original</h2>
        <h2>Result{result !== "" && <Copy text={result} label="Copy the result" />}</h2>
      </div>
      <div ref={host} className={styles.editor} />
    </div>
  );
}
