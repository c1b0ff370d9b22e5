import type { ReactNode } from "react";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";

const overlaps = [[0, "no time: it ends now"], [3_600, "1 hour"], [86_400, "1 day"], [604_800, "7 days"]] as const;
const usual = 86_400;

/** Asks how long a key works on beside the one that replaces it. */
export function RotateKey({ name, rotate, close }: {
  readonly name: string;
  readonly rotate: (overlapSeconds: number) => Promise<void>;
  readonly close: () => void;
}): ReactNode {
  return (
    <Dialog title={`Rotate ${name}`} close={close}>
      <p>A new key of the same name is issued, and shown once. The old one ends by itself.</p>
      <Form label="Rotate" cancel={close} keeps guarded={false}
        submit={({ overlapSeconds }) => rotate(Number(overlapSeconds))}>
        <Field name="overlapSeconds" label="The old key works on for" hint="Give the new one out in that time.">
          {(props) => (
            <select {...props} defaultValue={usual}>
              {overlaps.map(([seconds, text]) => <option key={seconds} value={seconds}>{text}</option>)}
            </select>
          )}
        </Field>
      </Form>
    </Dialog>
  );
}
