// What this phone calls itself towards a desktop: the kind of device, which the person can
// change on the desktop. Browsers tell no more, and more isn't asked.

const KINDS: readonly [RegExp, string][] = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android.*Mobile/, "Android phone"],
  [/Android/, "Android tablet"],
  [/Macintosh/, "Mac"],
  [/Windows/, "Windows browser"],
  [/CrOS/, "Chromebook"],
  [/Linux/, "Linux browser"],
];

const PLATFORMS: readonly [RegExp, string][] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Macintosh/, "macOS"],
  [/Windows/, "Windows"],
  [/Linux|CrOS/, "Linux"],
];

/** By the browser's own description of itself. */
export function describeDevice(userAgent: string, touchPoints: number): { name: string; platform: string } {
  // An iPad says that it is a Mac; a Mac has no touch screen.
  const seen = touchPoints > 1 && userAgent.includes("Macintosh") ? "iPad" : userAgent;
  const find = (list: readonly [RegExp, string][]): string | undefined => list.find(([sign]) => sign.test(seen))?.[1];
  return { name: find(KINDS) ?? "Phone", platform: find(PLATFORMS) ?? "" };
}
