// The time as the window shows it: one number that moves once a second, and what follows
// from it seldom: the day that is today, and the time zone. It stands still while nobody can
// see the window: an app in the tray is to cost nothing.

/** A zone with the same offset as the last is looked for this often; to ask is not cheap. */
const ZONE_LOOK_MS = 60_000;

class Clock {
  nowMs = $state(Date.now());
  /** The beginning of today; moves at midnight, and when the clock or the zone is set. */
  todayMs = $state(startOfToday());
  /** Changes when the time zone does, so that what was formatted is formatted anew. */
  zone = $state(zoneName());
  #zoneKnown = { offset: new Date().getTimezoneOffset(), atMs: Date.now() };

  /** Lets the time move; the returned function stops it. */
  start(): () => void {
    let timer: ReturnType<typeof setInterval> | undefined;
    const follow = (): void => {
      clearInterval(timer);
      if (document.hidden) return;
      this.handleSecond();
      timer = setInterval(() => this.handleSecond(), 1000);
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", follow);
    };
  }

  handleSecond(): void {
    this.nowMs = Date.now();
    this.todayMs = startOfToday();
    const offset = new Date().getTimezoneOffset();
    const known = this.#zoneKnown;
    if (offset === known.offset && Math.abs(this.nowMs - known.atMs) < ZONE_LOOK_MS) return;
    this.#zoneKnown = { offset, atMs: this.nowMs };
    this.zone = zoneName();
  }
}

function startOfToday(): number {
  return new Date().setHours(0, 0, 0, 0);
}

/** The offset tells apart what a name may not, such as a zone that was given by hand. */
function zoneName(): string {
  return `${new Intl.DateTimeFormat().resolvedOptions().timeZone} ${new Date().getTimezoneOffset()}`;
}

export const clock = new Clock();
