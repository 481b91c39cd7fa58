// The keys of the window: what they are called on the sheet and what they do. One table,
// so that the sheet can't say what doesn't work.

import type { Desk } from "./state.svelte";

export interface Shortcut {
  /** The key as `KeyboardEvent.key` gives it, in lower case. */
  key: string;
  ctrl?: boolean;
  alt?: boolean;
  /** Under which key the sheet finds its words. */
  text: string;
  run: (desk: Desk) => void;
}

export const shortcuts: readonly Shortcut[] = [
  { key: "f", ctrl: true, text: "shortcut-search", run: (desk) => desk.go({ at: "search" }) },
  { key: "arrowup", alt: true, text: "shortcut-group-before", run: (desk) => desk.openNeighbour(-1) },
  { key: "arrowdown", alt: true, text: "shortcut-group-after", run: (desk) => desk.openNeighbour(1) },
  { key: "n", ctrl: true, text: "shortcut-group-add", run: (desk) => desk.go({ at: "start" }) },
  { key: "m", ctrl: true, text: "shortcut-members", run: (desk) => desk.toggle("members") },
  { key: "r", ctrl: true, text: "shortcut-relay", run: (desk) => desk.toggle("relay") },
  { key: "p", ctrl: true, text: "shortcut-phones", run: (desk) => desk.go({ at: "phones" }) },
  { key: "i", ctrl: true, text: "shortcut-issues", run: (desk) => desk.go({ at: "issues" }) },
  { key: ",", ctrl: true, text: "shortcut-settings", run: (desk) => desk.go({ at: "settings" }) },
  { key: "l", ctrl: true, text: "shortcut-lock", run: (desk) => desk.lock() },
  { key: "/", ctrl: true, text: "shortcut-sheet", run: (desk) => (desk.isSheetShown = !desk.isSheetShown) },
];

/** What else the keyboard does, where it can't be had from everywhere. */
export const placeKeys: readonly { keys: readonly string[]; text: string }[] = [
  { keys: ["Enter"], text: "shortcut-send" },
  { keys: ["Shift", "Enter"], text: "shortcut-break" },
  { keys: ["Esc"], text: "shortcut-close" },
  { keys: ["Tab"], text: "shortcut-next" },
];

type Press = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey" | "isComposing">;

/** The shortcut that was pressed, if it is one. */
export function findShortcut(event: Press): Shortcut | null {
  if (event.isComposing) return null;
  const key = event.key.toLowerCase();
  // On some keyboards a slash needs Shift.
  if (event.shiftKey && key !== "/") return null;
  const isCtrl = event.ctrlKey || event.metaKey;
  return shortcuts.find((one) => one.key === key && (one.ctrl ?? false) === isCtrl && (one.alt ?? false) === event.altKey) ?? null;
}

/** The keys of a shortcut as they are printed on a keyboard. */
export function shortcutKeys({ key, ctrl, alt }: Shortcut): string[] {
  const names: Record<string, string> = { arrowdown: "↓", arrowup: "↑" };
  return [...(ctrl ? ["Ctrl"] : []), ...(alt ? ["Alt"] : []), names[key] ?? key.toUpperCase()];
}
