/** A UUID as it is stored: in lower case. */
export const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const nilUuid = "00000000-0000-0000-0000-000000000000";

/** The digits that the fourth group of a UUID may begin with (RFC 9562, 4.1): two of the four bits are fixed. */
export const variantDigits = ["8", "9", "a", "b"] as const;
