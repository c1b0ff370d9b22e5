/** The value of each hexadecimal digit of a UUID in lower case by its character code; -1 for all others. */
const digits = new Int8Array(128).fill(-1);
for (let value = 0; value < 16; value += 1) digits[value.toString(16).charCodeAt(0)] = value;

const length = 36;
const dash = "-".charCodeAt(0);

/** The 16 bytes of a UUID in lower case, in `bytes` where given; undefined for any other text. */
export function uuidBytes(text: string, bytes: Uint8Array = new Uint8Array(16)): Uint8Array | undefined {
  if (text.length !== length) return undefined;
  let at = 0;
  for (let byte = 0; byte < 16; byte += 1) {
    if ((at === 8 || at === 13 || at === 18 || at === 23) && text.charCodeAt(at++) !== dash) return undefined;
    const high = digits[text.charCodeAt(at++)] ?? -1;
    const low = digits[text.charCodeAt(at++)] ?? -1;
    if (high < 0 || low < 0) return undefined;
    bytes[byte] = (high << 4) | low;
  }
  return bytes;
}

/** The UUID of 16 bytes. */
export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
