// Takes the pairing code out of the address before anything else happens (8.2). This module
// is imported first, so its first line is the first of the page.

const fragment = location.hash;
if (fragment !== "" || location.search !== "") history.replaceState(null, "", location.pathname);

let left = fragment;

/** The fragment that the page was opened with; once. */
export function takeFragment(): string {
  const taken = left;
  left = "";
  return taken;
}
