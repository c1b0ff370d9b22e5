/** A UUID as it is stored: in lower case. */
export const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An id that nothing has. */
export const nilUuid = "00000000-0000-0000-0000-000000000000";

/** The digits that may begin the fourth group, which say that a UUID is one of RFC 9562: two bits choose. */
export const variantDigits = ["8", "9", "a", "b"] as const;
