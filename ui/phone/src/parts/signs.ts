// The drawn signs, the seal and the avatars, as in the window. Always beside words or in a
// named button, so hidden from screen readers.

import { drawing } from "../dom";

const shapes = {
  back: "M12 4.5 6.5 10l5.5 5.5",
  check: "m4.5 10.5 3.5 3.5 7.5-8",
  down: "M10 4v12m-5-5 5 5 5-5",
  failed: "M10 3a7 7 0 1 0 0 14a7 7 0 0 0 0-14Zm0 3.5v4m0 2.6v.4",
  info: "M10 3a7 7 0 1 0 0 14a7 7 0 0 0 0-14Zm0 6v4.5m0-7.4v.4",
  leave: "M8 4H4.5v12H8m4-9 3 3-3 3m3-3H8",
  lock: "M5.5 9h9v7h-9Zm2 0V6.5a2.5 2.5 0 0 1 5 0V9M10 12v1.5",
  onRelay: "M4 8.5h12v7H4Zm2-4h8m-8 4v-4m8 4v-4M7 12h2.5m3.5 0h.01",
  pair: "M3.5 3.5h5v5h-5Zm8 0h5v5h-5Zm-8 8h5v5h-5ZM12 14.3h5m-2.5-2.5v5",
  send: "M10 16V4.5M5 9.5l5-5 5 5",
  sending: "M3.5 10h12m-4.5-4.5 4.5 4.5-4.5 4.5",
  settings: "M4 6h7m4 0h1M4 14h1m4 0h7M13 6a2 2 0 1 1-4 0a2 2 0 0 1 4 0ZM9 14a2 2 0 1 1-4 0a2 2 0 0 1 4 0Z",
  waiting: "M10 3a7 7 0 1 0 0 14a7 7 0 0 0 0-14Zm0 3.5V10l2.5 1.5",
} as const;

export type Sign = keyof typeof shapes;

export function sign(name: Sign, size: "small" | "normal" = "normal"): SVGSVGElement {
  return drawing(20, `sign ${size}`, [["path", { d: shapes[name] }]]);
}

const SCALLOP = "M24 3.5A8.6 8.6 0 0 1 37.18 8.3A8.6 8.6 0 0 1 44.19 20.44A8.6 8.6 0 0 1 41.75 34.25A8.6 8.6 0 0 1 31.01 43.26A8.6 8.6 0 0 1 16.99 43.26A8.6 8.6 0 0 1 6.25 34.25A8.6 8.6 0 0 1 3.81 20.44A8.6 8.6 0 0 1 10.82 8.3A8.6 8.6 0 0 1 24 3.5Z";
const KEYHOLE = "M24 17.2a4 4 0 0 0-2.3 7.3L20.2 31h7.6l-1.5-6.5a4 4 0 0 0-2.3-7.3Z";
const TINTS = 6;

/** The mark of Sealpost: a wax seal with a keyhole. */
export function seal(): SVGSVGElement {
  return drawing(48, "seal", [["path", { class: "wax", d: SCALLOP }], ["path", { class: "hole", d: KEYHOLE }]]);
}

/** A group's sign: its first letter on a seal whose colour comes from the id, for good. */
export function avatar(id: string, name: string): SVGSVGElement {
  const tint = [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9973, 7) % TINTS;
  const text = [...name.trim()][0]?.toUpperCase() ?? "•";
  return drawing(48, `avatar tint-${tint}`, [["path", { d: SCALLOP }], ["text", { x: "24", y: "24", dy: "0.35em", "text-anchor": "middle", text }]]);
}
