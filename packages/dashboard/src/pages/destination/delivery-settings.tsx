import type { Schemas } from "@webhook-relay/client";
import type { ReactNode } from "react";
import { useMay } from "../../app/session.ts";
import { authOf, AuthFields, authTitle } from "../../parts/auth-fields.tsx";
import { Field } from "../../parts/form.tsx";
import { numbersIn, textOf } from "./setting-texts.ts";
import { SettingsForm, SettingsGroup, SettingsList } from "./settings-group.tsx";
import { switchOff } from "./switch-off.tsx";
import { waitingText } from "./waiting.ts";

/** Where events are sent, how they are authenticated, and how many at a time and in a second. */
export function DeliverySettings({ destination }: { readonly destination: Schemas["Destination"] }): ReactNode {
  const { url, serverRateLimit, ratePerSecond, authType, status, timeoutMs, health } = destination;
  const mayChange = useMay()("updateDestination");
  return (
    <SettingsGroup
      title="Delivery" about="Where events are posted to, and how."
      affects={waitingText(health, "A change applies from the next attempt on.", "They are sent as it says then.")}
    >
      {mayChange ? (
        <SettingsForm
          destination={destination}
          values={{
            url, serverRateLimit: String(serverRateLimit), status: status === "Inactive" ? "inactive" : "active",
            authType: authType ?? "", timeoutMs: textOf(timeoutMs), ratePerSecond: textOf(ratePerSecond),
          }}
          question={(changed) => changed["status"] === "inactive" ? switchOff(destination.name ?? url) : undefined}
          changesOf={(changed, fields) => ({
            ...(changed["url"] !== undefined && { url: changed["url"] }),
            ...(changed["serverRateLimit"] !== undefined && { serverRateLimit: Number(changed["serverRateLimit"]) }),
            ...(changed["status"] !== undefined && {
              status: changed["status"] === "inactive" ? "inactive" : "active",
            }),
            ...numbersIn(changed, "timeoutMs", "ratePerSecond"),
            ...authOf(fields, authType),
          })}
        >
          <Field name="url" label="URL" hint="By HTTPS.">
            {(props) => <input {...props} inputMode="url" autoComplete="off" />}
          </Field>
          <Field
            name="status" label="Status" hint={status === "Suspended" ? "Its circuit is open: see Circuit." : undefined}
          >
            {(props) => (
              <select {...props}>
                <option value="active">on</option>
                <option value="inactive">off: events are held, and posts refused</option>
              </select>
            )}
          </Field>
          <AuthFields stored={authType} />
          <Field name="timeoutMs" label="Timeout, ms" hint="For each attempt, 1,000 to 60,000. Empty: the relay's own.">
            {(props) => <input {...props} type="number" />}
          </Field>
          <Field name="serverRateLimit" label="Concurrent requests" hint="Most requests in flight at the same time.">
            {(props) => <input {...props} type="number" />}
          </Field>
          <Field
            name="ratePerSecond" label="Rate per second"
            hint="Most attempts that begin in a second, 0.1 to 10,000. Empty: any number."
          >
            {(props) => <input {...props} type="number" step="any" />}
          </Field>
        </SettingsForm>
      ) : (
        <SettingsList settings={[
          ["URL", url], ["Status", status], ["Authentication", authTitle(authType)],
          ["Timeout, ms", timeoutMs], ["Concurrent requests", serverRateLimit], ["Rate per second", ratePerSecond],
        ]}
        />
      )}
    </SettingsGroup>
  );
}
