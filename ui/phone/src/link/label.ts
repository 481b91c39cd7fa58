// Every word that is part of a key, a hash or an authenticated header. Owns nothing else.

/** The salt of the derivation (3). */
export const SALT = "paired-mailbox/1";
export const MAILBOX_ID = "mailbox-id";
export const TOKEN = "token";
/** The two directions' keys (3). */
export const KEY_A_TO_B = "key a2b";
export const KEY_B_TO_A = "key b2a";
/** What begins the authenticated header of an envelope (7.0). */
export const ENVELOPE = "paired-mailbox/1 envelope";
/** What begins B's commitment (8.3). */
export const COMMIT = "paired-mailbox/1 commit";
/** What begins the transcript of a rotation (8.4). */
export const ROTATE = "paired-mailbox/1 rotate";
export const NEW_LINK_KEY = "link-key";
export const NEW_LINK_ID = "link-id";
export const DIGITS = "sas";
export const CONFIRM = "confirm";
/** What begins the proof in `welcome` (amendment 18). */
export const WELCOME = "paired-mailbox/1 welcome";
