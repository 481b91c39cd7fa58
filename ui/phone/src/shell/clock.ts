// Notices that the phone's clock was set forward, or that the phone slept: the time of day went
// on, and the page didn't. Pure: both clocks are arguments.

import { CLOCK_STEP_MS } from "../link/limit";

export class ClockSteps {
  constructor(
    private seenMs: number,
    private steadyMs: number,
  ) {}

  /** By how much the time of day went on since the last look beyond what passed; 0 for little. */
  look(nowMs: number, steadyMs: number): number {
    const byMs = Math.round(nowMs - this.seenMs - (steadyMs - this.steadyMs));
    this.seenMs = nowMs;
    this.steadyMs = steadyMs;
    return byMs > CLOCK_STEP_MS ? byMs : 0;
  }
}
