// The time as the window shows it: one number that moves once a second, and what follows
// from it seldom: the day that is today, and the time zone.

class Clock {
  nowMs = $state(Date.now());
  /** The beginning of today; moves at midnight, and when the clock or the zone is set. */
  todayMs = $state(startOfToday());
  /** Changes when the time zone does, so that what was formatted is formatted anew. */
  zone = $state(zoneName());

  /** Lets the time move; the returned function stops it. */
  start(): () => void {
    const timer = setInterval(() => this.handleSecond(), 1000);
    return () => clearInterval(timer);
  }

  handleSecond(): void {
    this.nowMs = Date.now();
    this.todayMs = startOfToday();
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
