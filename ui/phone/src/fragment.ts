// Takes the pairing code out of the address before anything else happens (8.2). This module
// is imported first, so its first line is the first of the page. A code that is opened where the
// page is already comes as a change of the fragment alone.

let left = location.hash;
clear();
let handler: ((fragment: string) => void) | null = null;

addEventListener("hashchange", () => {
  left = location.hash || left;
  clear();
  if (handler !== null && left !== "") handler(takeFragment());
});

/** The fragment that the page was opened with; once. */
export function takeFragment(): string {
  const taken = left;
  left = "";
  return taken;
}

/** Calls for each code that is opened from now on, and for one that came meanwhile. */
export function listenForFragment(handle: (fragment: string) => void): void {
  handler = handle;
  if (left !== "") handle(takeFragment());
}

function clear(): void {
  if (location.hash !== "" || location.search !== "") history.replaceState(null, "", location.pathname);
}
