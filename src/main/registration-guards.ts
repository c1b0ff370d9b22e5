import { userAgent } from "../delivery/requests/request.ts";
import { ListedDomains } from "../engines/disposable-domains/listed-domains.ts";
import {
  CloudRegistrationGuards, openRegistration, type CloudGuardParts, type RegistrationGuards,
} from "../features/tenants/registration-guards.ts";
import type { Config } from "./config/config.ts";
import type { Secrets } from "./config/secrets.ts";
import { version } from "./version.ts";

/** The guards of the configured offering. */
export function registrationGuards(
  { turnstile }: Config,
  { turnstileSecret }: Secrets,
  parts: Omit<CloudGuardParts, "disposable">,
): RegistrationGuards {
  if (turnstile === null || turnstileSecret === null) return openRegistration;
  const settings = { verifyUrl: turnstile.verifyUrl, secret: turnstileSecret, userAgent: userAgent(version) };
  return new CloudRegistrationGuards({ ...parts, disposable: new ListedDomains() }, settings);
}
