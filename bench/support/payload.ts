import { randomUUID } from "node:crypto";

/** Bytes of every body, in every benchmark. */
export const bodyBytes = 1024;

const seqDigits = 10;
const dueDigits = 16;
const opening = '{"seq":"';
const middle = '","due":"';
const rest = '","type":"bench.order.paid","note":"';
const seqAt = opening.length;
const dueAt = seqAt + seqDigits + middle.length;

function digits(value: number, width: number): string {
  return String(value).padStart(width, "0");
}

/** A JSON object of {@link bodyBytes} bytes: sequence number and due moment at fixed places, then padding. */
export function bodyTemplate(): Buffer {
  const start = opening + digits(0, seqDigits) + middle + digits(0, dueDigits) + rest;
  return Buffer.from(`${start}${"abcdefghij klmno ".repeat(bodyBytes).slice(0, bodyBytes - start.length - 2)}"}`);
}

/** Writes number and due moment (machine ms) into a body that begins at `offset`. */
export function stamp(buffer: Buffer, offset: number, seq: number, due: number): void {
  buffer.write(digits(seq, seqDigits), offset + seqAt, "latin1");
  buffer.write(digits(Math.round(due * 1000), dueDigits), offset + dueAt, "latin1");
}

/** Reads the numbers that {@link stamp} wrote. */
export function readStamp(buffer: Buffer, offset: number): { readonly seq: number; readonly due: number } {
  const number = (at: number, width: number) => Number(buffer.toString("latin1", offset + at, offset + at + width));
  return { seq: number(seqAt, seqDigits), due: number(dueAt, dueDigits) / 1000 };
}

/** One producer's request, complete except for the parts that differ between events. */
export interface RequestTemplate {
  readonly bytes: Buffer;
  /** Where the digits of the idempotency key are, and the body. */
  readonly keyAt: number;
  readonly bodyAt: number;
  /** The number of owners, one of which a request names; 0: it names none. */
  readonly owners: number;
  readonly ownerAt: number;
}

const ownerPrefix = "owner-";
/** Of this process alone, so that a data folder may be loaded again and again. */
const keyPrefix = `bench-${randomUUID().slice(0, 8)}-`;

/** The `ownerId` of the owner of this number. */
export function ownerIdOf(owner: number): string {
  return ownerPrefix + digits(owner, seqDigits);
}

/** An ingest request with API key and idempotency key, and with one of so many owners. */
export function requestTemplate(host: string, path: string, apiKey: string, owners = 0): RequestTemplate {
  const start = [
    `POST ${path} HTTP/1.1`,
    `host: ${host}`,
    `x-api-key: ${apiKey}`,
    "content-type: application/json",
    `content-length: ${bodyBytes}`,
  ].join("\r\n");
  const beforeOwner = `${start}\r\nx-owner-id: ${ownerPrefix}`;
  const named = owners > 0 ? beforeOwner + digits(0, seqDigits) : start;
  const beforeKey = `${named}\r\nx-idempotency-key: ${keyPrefix}`;
  const head = Buffer.from(`${beforeKey}${digits(0, seqDigits)}\r\n\r\n`);
  return {
    bytes: Buffer.concat([head, bodyTemplate()]), keyAt: beforeKey.length, bodyAt: head.length, owners,
    ownerAt: beforeOwner.length,
  };
}

/** Copies the template into `target` as the request for one event, of any owner; answers its length. */
export function writeRequest(template: RequestTemplate, target: Buffer, seq: number, due: number): number {
  template.bytes.copy(target);
  if (template.owners > 0) {
    target.write(digits(Math.floor(Math.random() * template.owners), seqDigits), template.ownerAt, "latin1");
  }
  target.write(digits(seq, seqDigits), template.keyAt, "latin1");
  stamp(target, template.bodyAt, seq, due);
  return template.bytes.length;
}
