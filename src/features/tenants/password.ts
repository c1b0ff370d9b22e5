/** bcrypt reads no further; a longer password would be equal to its own beginning. */
const mostBytes = 72;
const leastBytes = 8;

/**
 * Why a text cannot be a password, or null. Besides the length (8 to 72 bytes of UTF-8): bcrypt stops reading at a NUL,
 * and different texts that are not well-formed Unicode can have the same UTF-8.
 */
export function passwordProblem(password: string): string | null {
  const bytes = new TextEncoder().encode(password).length;
  if (bytes < leastBytes || bytes > mostBytes) return `must be ${leastBytes} to ${mostBytes} bytes of UTF-8 long`;
  if (password.includes("\0")) return "must not contain a NUL character";
  if (!password.isWellFormed()) return "must be well-formed Unicode";
  return null;
}
