import { isIP } from "node:net";
import { durationMs, spelledDuration } from "../../kernel/domain/duration.ts";
import { mappedIpv4, wordsOf } from "../../kernel/domain/ipv6.ts";
import type { OutboundProxy } from "../../kernel/domain/outbound-proxy.ts";

/** An invalid value; the message is one line that names the variable. */
export class ConfigError extends Error {
  constructor(variable: string, problem: string) {
    super(`${variable}: ${problem}`);
    this.name = "ConfigError";
  }
}

/** At most `max` within each `windowMs`. */
export interface Rate {
  readonly max: number;
  readonly windowMs: number;
}

/** Inclusive. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** Parses a trimmed text that is not empty; throws {@link Unparsable}. */
export type Parser<T> = (text: string) => T;

/** The reason of a refusal, without the variable's name. */
export class Unparsable extends Error {}

/** A day in milliseconds. */
export const dayMs = 86_400_000;

/** `250ms`, `5s`, `5m`, `2h`, `1d` to milliseconds; bounds in milliseconds. */
export function duration(bounds: Bounds): Parser<number> {
  return (text) => {
    const ms = durationMs(text) ?? fail(`must be a duration such as 250ms, 5s, 5m, 2h or 1d, not ${quoted(text)}`);
    if (ms < bounds.min || ms > bounds.max) {
      fail(`must be from ${spelledDuration(bounds.min)} to ${spelledDuration(bounds.max)}, not ${quoted(text)}`);
    }
    return ms;
  };
}

/** A whole number in decimal digits. */
export function integer(bounds: Bounds): Parser<number> {
  return number("a whole number", /^\d{1,15}$/, bounds);
}

/** A decimal fraction such as `0.1`. */
export function fraction(bounds: Bounds): Parser<number> {
  return number("a number", /^\d{1,9}(\.\d{1,9})?$/, bounds);
}

function number(called: string, form: RegExp, { min, max }: Bounds): Parser<number> {
  return (text) => {
    const value = form.test(text) ? Number(text) : NaN;
    if (!(value >= min && value <= max)) fail(`must be ${called} from ${min} to ${max}, not ${quoted(text)}`);
    return value;
  };
}

/** `10/5m`, or `off` to null. */
export function rate(text: string): Rate | null {
  if (text === "off") return null;
  const [max, window, ...rest] = text.split("/");
  if (!max || !window || rest.length > 0) fail(`must be a rate such as 10/5m, or off, not ${quoted(text)}`);
  return { max: integer({ min: 1, max: 1_000_000 })(max), windowMs: duration({ min: 1, max: 30 * dayMs })(window) };
}

/** One of some words. */
export function oneOf<const Word extends string>(...words: readonly Word[]): Parser<Word> {
  return (text) =>
    words.find((word) => word === text) ?? fail(`must be one of ${words.join(", ")}, not ${quoted(text)}`);
}

/** `true` or `false`. */
export function boolean(text: string): boolean {
  return oneOf("true", "false")(text) === "true";
}

const mostItems = 100;

/** Comma-separated; blanks around an item are ignored, empty items refused. */
export function list<T>(item: Parser<T>): Parser<readonly T[]> {
  return (text) => {
    const items = text.split(",").map((part) => part.trim());
    if (items.includes("")) fail("must be a comma-separated list without empty items");
    if (items.length > mostItems) fail(`must list ${mostItems} items at most, not ${items.length}`);
    return items.map(item);
  };
}

/** A network in CIDR notation, IPv4 or IPv6. */
export function network(text: string): string {
  const [, address = "", prefix = ""] = /^([^/%]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const family = isIP(address);
  if (family === 0 || Number(prefix) > (family === 4 ? 32 : 128)) {
    fail(`must be networks such as 10.0.0.0/8 or fd00::/8, not ${quoted(text)}`);
  }
  if (family === 6 && mappedIpv4(wordsOf(address))) fail(`must give IPv4 networks as such, not ${quoted(text)}`);
  return text;
}

/** Whether a network's address has bits beyond its prefix, as in `10.0.0.5/8`: it may mean a single host. */
export function hasHostBits(network: string): boolean {
  const [address = "", prefix] = network.split("/");
  return bitsOf(address).slice(Number(prefix)).includes("1");
}

/** Whether a network lies within another, both in CIDR notation. */
export function isWithin(inner: string, outer: string): boolean {
  const [address = "", prefix] = inner.split("/");
  const [outerAddress = "", outerPrefix] = outer.split("/");
  if (isIP(address) !== isIP(outerAddress) || Number(prefix) < Number(outerPrefix)) return false;
  return bitsOf(address).startsWith(bitsOf(outerAddress).slice(0, Number(outerPrefix)));
}

function bitsOf(address: string): string {
  return isIP(address) === 4 ? binary(address.split(".").map(Number), 8) : binary(wordsOf(address), 16);
}

function binary(parts: readonly number[], bits: number): string {
  return parts.map((part) => part.toString(2).padStart(bits, "0")).join("");
}

/** An IP address or a host name. */
export function host(text: string): string {
  const named = /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*)(\.[A-Za-z0-9_-]+)*\.?$/.test(text);
  return isIP(text) !== 0 || named ? text : fail(`must be an address or a host name, not ${quoted(text)}`);
}

/** `host:port`, with the address of an IPv6 host in brackets. */
export function hostAndPort(text: string): string {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d+)$/.exec(text) ?? [];
  if (!port || (bracketed && isIP(bracketed) !== 6)) fail(`must be host:port, not ${quoted(text)}`);
  if (plain) host(plain);
  integer({ min: 1, max: 65_535 })(port);
  return text;
}

/** An https URL. Errors do not quote it: it may hold a password. */
export function httpsUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== "https:") fail("must be a URL that starts with https://");
  if (url.username !== "" || url.password !== "") fail("must not hold a name or password");
  return text;
}

/** An HTTP proxy: `http://host:port`, with `user:pass@` before the host. Errors do not quote it. */
export function httpProxy(text: string): OutboundProxy {
  const [, proof, place = ""] = /^http:\/\/(?:([^\s@/?#]*)@)?([^\s@/?#]+)\/?$/.exec(text)
    ?? fail("must be http://host:port, or http://user:pass@host:port with special characters spelled as %40");
  const [, bracketed, named = "", port] = /^(?:\[([^\]]+)\]|([\w.-]{1,253})):(\d{1,5})$/.exec(place)
    ?? fail("must name a host and a port, such as http://proxy.internal:3128");
  if (bracketed !== undefined && isIP(bracketed) !== 6) fail("must have an IPv6 address in the brackets");
  return {
    host: bracketed ?? named,
    port: integer({ min: 1, max: 65_535 })(port ?? ""),
    authorization: proof === undefined ? null : basicProof(proof),
  };
}

function basicProof(text: string): string {
  const [name = "", ...rest] = text.split(":");
  if (name === "" || rest.length !== 1) fail("must have a name and a password before the @, as user:pass");
  let proof: string;
  try {
    proof = [name, ...rest].map(decodeURIComponent).join(":");
  } catch {
    return fail("must spell a % in a name or password as %25");
  }
  if (/\p{Cc}/u.test(proof)) fail("must have no control characters in the name or password");
  return `Basic ${Buffer.from(proof).toString("base64")}`;
}

/** A driver's connection string of one of the schemes. Errors do not quote it: it may hold a password. */
export function connectionString(...schemes: readonly string[]): Parser<string> {
  return (text) => {
    const [, scheme = "", hosts = ""] = /^([a-z+]+):\/\/([^\s/?#]+)([/?#]\S*)?$/.exec(text) ?? [];
    // A driver may take the text behind the first @ for a host, and print it in errors.
    if (/@[^?]*@/.test(text)) return fail("must spell an @ in a name or password as %40");
    const ports = [...hosts.replace(/^.*@/, "").matchAll(/:(\d+)(?=,|$)/g)].map(([, port]) => Number(port));
    if (ports.some((port) => port < 1 || port > 65_535)) return fail("must have ports from 1 to 65535");
    if (schemes.includes(scheme)) return text;
    return fail(`must start with ${schemes.map((each) => `${each}://`).join(" or ")} and name a host`);
  };
}

/** Throws {@link Unparsable}. */
export function fail(problem: string): never {
  throw new Unparsable(problem);
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
