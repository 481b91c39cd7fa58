// The time as the window shows it: one number that moves once a second.

class Clock {
  nowMs = $state(Date.now());

  /** Lets the time move; the returned function stops it. */
  start(): () => void {
    const timer = setInterval(() => {
      this.nowMs = Date.now();
    }, 1000);
    return () => clearInterval(timer);
  }
}

export const clock = new Clock();
