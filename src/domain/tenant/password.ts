/** bcrypt reads no further; a longer password would be equal to its own beginning. */
const mostBytes = 72;
const leastBytes = 8;

/**
 * What keeps a text from being a password, or null. Beyond the length (8 to 72 bytes of UTF-8): a NUL ends
 * what bcrypt reads, and text that is not well-formed Unicode loses its difference in UTF-8.
 */
export function passwordProblem(password: string): string | null {
  const bytes = new TextEncoder().encode(password).length;
  if (bytes < leastBytes || bytes > mostBytes) return `must be ${leastBytes} to ${mostBytes} bytes of UTF-8 long`;
  if (password.includes("\0")) return "must not contain a NUL character";
  if (!password.isWellFormed()) return "must be well-formed Unicode";
  return null;
}
