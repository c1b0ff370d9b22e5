import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { useMay } from "../../app/session.ts";
import type { Fields } from "../../parts/fields.ts";
import { Field } from "../../parts/form.tsx";
import { durationText } from "../../parts/times.ts";
import { own, OwnSettings } from "./own-settings.tsx";
import { changesPart, listOf, numbersIn, textOf } from "./setting-texts.ts";
import { SettingsForm, SettingsGroup, SettingsList } from "./settings-group.tsx";
import { waitingText } from "./waiting.ts";

type Destination = Schemas["Destination"];
type Request = Required<Schemas["UpdateDestinationRequest"]>;

/** The word for a policy that retries nothing. */
const nothing = "none";

/** How failed attempts are repeated, and when the circuit opens. */
export function RetrySettings({ destination }: { readonly destination: Destination }): ReactNode {
  const { retryPolicy, circuit, health } = destination;
  const mayChange = useMay()("updateDestination");
  return (
    <SettingsGroup
      title="Retries and circuit" about="How failed attempts are repeated, and when the destination rests."
      affects={waitingText(
        health, "A change applies from an event's next failure on.", "the time of their next attempt stays.")}
    >
      {mayChange ? (
        <SettingsForm
          destination={destination} values={textsOf(destination)}
          changesOf={(changed, fields) => ({
            ...(changesPart(changed, "retryPolicy") && { retryPolicy: policyIn(fields) }),
            ...(changesPart(changed, "circuit") && { circuit: circuitIn(fields) }),
            ...(changed["whenSuspended"] !== undefined && {
              whenSuspended: changed["whenSuspended"] === "hold" ? "hold" : "reject",
            }),
            ...numbersIn(changed, "disableAfterDays", "expireAfterDays"),
          })}
        >
          <OwnSettings
            name="retryPolicy" label="Retry policy" stored={retryPolicy}
            otherwise="the relay's schedule and the tenant's tries"
          >
            <Field
              name="retryPolicy.schedule" label="Waits after failures"
              hint="One after each failure, such as 5s, 2m, 1h. The last one repeats."
            >
              {(props) => <input {...props} autoComplete="off" placeholder="5s, 30s, 5m, 1h" />}
            </Field>
            <Field name="retryPolicy.maxTrys" label="Tries" hint="Attempts before an event has failed.">
              {(props) => <input {...props} type="number" />}
            </Field>
            <Field
              name="retryPolicy.retryOn" label="Retried outcomes"
              hint="Such as 429, 5xx, timeout, connection; any other is final. Empty: all are retried."
            >
              {(props) => <input {...props} autoComplete="off" placeholder="all" />}
            </Field>
          </OwnSettings>
          <OwnSettings
            name="circuit" label="Circuit" stored={circuit} otherwise="the tenant's tries and circuit timer"
          >
            <Field name="circuit.failures" label="Failures that open it" hint="Failed attempts in a row.">
              {(props) => <input {...props} type="number" />}
            </Field>
            <Field
              name="circuit.timer" label="Circuit timer, seconds"
              hint="How long it rests before one event probes it. A circuit that is open now keeps its time."
            >
              {(props) => <input {...props} type="number" />}
            </Field>
          </OwnSettings>
          <Field name="whenSuspended" label="Posts while the circuit is open">
            {(props) => (
              <select {...props}>
                <option value="reject">refused with 422</option>
                <option value="hold">accepted, and held until it closes</option>
              </select>
            )}
          </Field>
          <Field
            name="disableAfterDays" label="Switched off after, days"
            hint="If every attempt fails for so long. Events that wait then stay waiting. 1 to 30; empty: never."
          >
            {(props) => <input {...props} type="number" />}
          </Field>
          <Field
            name="expireAfterDays" label="Expiry, days"
            hint="Events that have waited so long are cancelled, those that wait now, too. 1 to 365; empty: never."
          >
            {(props) => <input {...props} type="number" />}
          </Field>
        </SettingsForm>
      ) : <Shown destination={destination} />}
    </SettingsGroup>
  );
}

function textsOf({ retryPolicy, circuit, whenSuspended, disableAfterDays, expireAfterDays }: Destination): Fields {
  return {
    retryPolicy: retryPolicy === null ? "" : own,
    "retryPolicy.schedule": retryPolicy?.schedule.join(", ") ?? "",
    "retryPolicy.maxTrys": textOf(retryPolicy?.maxTrys ?? null),
    "retryPolicy.retryOn": outcomesText(retryPolicy),
    circuit: circuit === null ? "" : own,
    "circuit.failures": textOf(circuit?.failures ?? null),
    "circuit.timer": textOf(circuit?.timer ?? null),
    whenSuspended,
    disableAfterDays: textOf(disableAfterDays),
    expireAfterDays: textOf(expireAfterDays),
  };
}

function outcomesText(policy: Destination["retryPolicy"]): string {
  if (!policy?.retryOn) return "";
  return policy.retryOn.length === 0 ? nothing : policy.retryOn.join(", ");
}

function policyIn(fields: Fields): Request["retryPolicy"] {
  if (fields["retryPolicy"] !== own) return null;
  const retryOn = listOf(fields["retryPolicy.retryOn"]).filter((outcome) => outcome !== nothing);
  const isAll = (fields["retryPolicy.retryOn"] ?? "").trim() === "";
  return {
    schedule: listOf(fields["retryPolicy.schedule"]), maxTrys: Number(fields["retryPolicy.maxTrys"]),
    ...(!isAll && { retryOn }),
  };
}

function circuitIn(fields: Fields): Request["circuit"] {
  if (fields["circuit"] !== own) return null;
  return { failures: Number(fields["circuit.failures"]), timer: Number(fields["circuit.timer"]) };
}

function Shown({ destination }: { readonly destination: Destination }): ReactNode {
  const { retryPolicy, circuit, whenSuspended, disableAfterDays, expireAfterDays } = destination;
  return (
    <SettingsList settings={[
      ["Retry policy", retryPolicy === null ? "the relay's schedule and the tenant's tries" : "its own"],
      ["Waits after failures", retryPolicy?.schedule.join(", ")],
      ["Tries", retryPolicy?.maxTrys],
      ["Retried outcomes", retryPolicy && (outcomesText(retryPolicy) || "all")],
      ["Circuit", circuit === null ? "the tenant's tries and circuit timer"
        : `opens after ${circuit.failures} failures in a row, for ${durationText(circuit.timer * 1_000)}`],
      ["Posts while the circuit is open", whenSuspended === "hold" ? "held" : "refused"],
      ["Switched off after, days", disableAfterDays],
      ["Expiry, days", expireAfterDays],
    ]}
    />
  );
}
