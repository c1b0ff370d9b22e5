const special = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/gu;
const deletePicture = 0x2421;
const pictures = 0x2400;

/**
 * A text of somebody else as a page shows it: control characters as their symbols, such as ␊, and characters that are
 * invisible or turn the direction of the text as their numbers, such as ⟨202E⟩.
 */
export function shownText(text: string): string {
  return text.replace(special, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(pictures + code);
    return code === 0x7F ? String.fromCharCode(deletePicture)
      : `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}
