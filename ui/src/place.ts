// Where in the window the person is, and from which width on there is room for what.

/** Where a panel has no room beside the place, it stands in its stead. */
export const TIGHT = "max-width: 66rem";
/** Where the list of groups has no room beside the place either. */
export const NARROW = "max-width: 44rem";

export type PairTab = "show" | "enter";
export type Panel = "members" | "relay";

export type Place =
  | { at: "start" }
  /** `invitation` is what a link brought along. */
  | { at: "pair"; group: string | null; tab: PairTab; invitation?: string }
  /** `jumpTo` is the position of a message to show. */
  | { at: "group"; group: string; jumpTo?: number }
  | { at: "search" }
  | { at: "issues" }
  | { at: "phones" }
  | { at: "settings" }
  | { at: "about" };
