// The numbers of the page that are not the link's. See link/limit.ts for those.

/** The longest text of a message, in bytes: with its group around it, it fits an envelope. */
export const TEXT_BYTES_MAX = 61_000;
