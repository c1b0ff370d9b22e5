import type { IncomingMessage } from "node:http";
import { refuse } from "../domain/refusal.ts";
import { isTagName, isTagValue, type Tag } from "../domain/tags.ts";
import { timestamp } from "../domain/time.ts";
import { nilUuid, uuidForm } from "../domain/uuid.ts";
import type { Ids } from "../ports/ids.ts";
import type { OutboundClient } from "../ports/outbound.ts";
import { isWebhookSecret } from "../tools/signature.ts";

const mostCharacters = 255;
const mostUrlCharacters = 2_048;

const control = /\p{Cc}/u;
/** As browsers check it in a form, except that the domain must have a dot. */
const emailForm =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Throws a Refusal (invalid) unless the text is an email address of at most 255 characters. */
export function checkEmail(field: string, email: string): void {
  if (email.length > mostCharacters) refuse("invalid", `${field}: must be at most ${mostCharacters} characters long`);
  const local = email.slice(0, email.indexOf("@"));
  const dots = local.startsWith(".") || local.endsWith(".") || local.includes("..");
  if (dots || !emailForm.test(email)) refuse("invalid", `${field}: must be an email address`);
}

/** Throws a Refusal (invalid) unless the text can be a password. */
export function checkPassword(field: string, password: string): void {
  const problem = passwordProblem(password);
  if (problem !== null) refuse("invalid", `${field}: ${problem}`);
}

/** A name as it is kept: trimmed. Throws a Refusal (invalid) when it is empty, too long or not plain text. */
export function cleanName(field: string, name: string): string {
  const trimmed = name.trim();
  if (trimmed === "") refuse("invalid", `${field}: must not be empty`);
  if ([...trimmed].length > mostCharacters) {
    refuse("invalid", `${field}: must be at most ${mostCharacters} characters long`);
  }
  checkPlainText(field, name);
  return trimmed;
}

/** Throws a Refusal (invalid) when the text holds control characters or is not well-formed Unicode. */
export function checkPlainText(field: string, text: string): void {
  if (control.test(text)) refuse("invalid", `${field}: must not contain control characters`);
  if (!text.isWellFormed()) refuse("invalid", `${field}: must be well-formed Unicode`);
}

/** Throws a Refusal (invalid) unless the URL is one that outbound calls may be made to. */
export function checkOutboundUrl(field: string, text: string, outbound: Pick<OutboundClient, "refusalOf">): void {
  if (text.length > mostUrlCharacters) {
    refuse("invalid", `${field}: must be at most ${mostUrlCharacters} characters long`);
  }
  checkPlainText(field, text);
  // The parser would repair texts that are no URL by RFC 3986: missing slashes, backslashes, spaces.
  const url = /^https:\/\/[^/\\\s][^\\\s]*$/i.test(text) ? URL.parse(text) : null;
  if (url === null || /^\.|\.\./.test(url.hostname)) refuse("invalid", `${field}: must be an HTTPS URL`);
  if (url.port === "0") refuse("invalid", `${field}: must not have the port 0, which nothing listens on`);
  if (/^[^/]+\/\/[^/?#]*@/.test(text)) refuse("invalid", `${field}: must not contain a user or password`);
  const refusal = outbound.refusalOf(text);
  if (refusal !== null) refuse("invalid", `${field}: ${refusal}`);
}

/** Throws a Refusal (invalid) unless the text can be a webhook secret. */
export function checkWebhookSecret(field: string, secret: string): void {
  if (!isWebhookSecret(secret)) refuse("invalid", `${field}: must be whsec_ and the base64 of 24 to 64 bytes`);
}

const dateTime = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

/** An ISO 8601 date or date-time as a timestamp, UTC where it names no offset. Throws a Refusal (invalid). */
export function parseDateTime(field: string, text: string): string {
  const example = "2026-01-31T23:59:59.000Z";
  const bad = () => refuse("invalid", `${field}: must be an ISO 8601 date-time in extended format, like ${example}`);
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", offset = "Z"] =
    dateTime.exec(text) ?? bad();
  if (second === "60") refuse("invalid", `${field}: must not be a leap second; seconds go from 00 to 59`);
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, "0").slice(0, 3)}Z`;
  const ms = Date.parse(local);
  // Date.parse takes the 30th of February for a day in March, and 24:00 for the next day.
  if (Number.isNaN(ms) || timestamp(ms) !== local) bad();
  const [, sign, hours = "00", minutes = "00"] = /^([+-])(\d{2}):?(\d{2})?$/.exec(offset) ?? [];
  if (Number(hours) > 23 || Number(minutes) > 59) bad();
  const shifted = ms - (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  // Beyond these years timestamps no longer sort as text.
  if (shifted < Date.parse("0001-01-01T00:00:00.000Z") || shifted > Date.parse("9999-12-31T23:59:59.999Z")) bad();
  return timestamp(shifted);
}

/** The same of a field that may be left out. */
export function parseOptionalDateTime(field: string, text: string | undefined): string | undefined {
  return text === undefined ? undefined : parseDateTime(field, text);
}

/** The tag of a filter, `name:value`. Throws a Refusal (invalid) that names the field. */
export function parseTag(field: string, text: string): Tag {
  const end = text.indexOf(":");
  const [name, value] = [text.slice(0, Math.max(end, 0)), text.slice(end + 1)];
  if (!isTagName(name) || !isTagValue(value)) {
    refuse("invalid", `${field}: must be the name and value of a tag, name:value`);
  }
  return { name, value };
}

/** bcrypt reads no further; a longer password would be equal to its own beginning. */
const mostBytes = 72;

const leastBytes = 8;

/** Why a text cannot be a password, or null: 8 to 72 bytes of UTF-8, no NUL (bcrypt stops there), well-formed. */
export function passwordProblem(password: string): string | null {
  const bytes = new TextEncoder().encode(password).length;
  if (bytes < leastBytes || bytes > mostBytes) return `must be ${leastBytes} to ${mostBytes} bytes of UTF-8 long`;
  if (password.includes("\0")) return "must not contain a NUL character";
  if (!password.isWellFormed()) return "must be well-formed Unicode";
  return null;
}

const requestIdForm = /^[\x21-\x7e]{1,128}$/;

/** The UUID in a path, in lower case; for any other text one that no record has: it is answered as an unknown id. */
export function uuidOf(text: string): string {
  const lower = text.toLowerCase();
  return uuidForm.test(lower) ? lower : nilUuid;
}

/** The id a caller gave its request, when it is 1 to 128 visible ASCII characters; else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">, ids: Ids): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && requestIdForm.test(given) ? given : ids.uuid();
}
