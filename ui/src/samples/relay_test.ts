// A sample test of a relay: its steps end one after the other, or at the one that fails.

import type { RelayTestStep } from "../bindings/RelayTestStep";
import type { RelayTestStepName } from "../bindings/RelayTestStepName";
import type { RelayTestView } from "../bindings/RelayTestView";

const names: RelayTestStepName[] = ["lookUp", "connect", "protocol", "key", "push", "receive"];
const tookMs = [3, 14, 21, 22, 48, 96];

/** All states of a run, each with one step more done. */
export function testStates(run: number, failing: RelayTestStepName | null, code: string): RelayTestView[] {
  const states: RelayTestView[] = [];
  for (let running = 0; running <= names.length; running += 1) {
    const steps = names.map((name, index) => stepAt(name, index, running, failing, code));
    const done = running === names.length || steps.some((step) => step.state === "failed");
    states.push({ run, steps: done ? steps.map(skipRest) : steps, done });
    if (done) break;
  }
  return states;
}

function stepAt(name: RelayTestStepName, index: number, running: number, failing: RelayTestStepName | null, code: string): RelayTestStep {
  const step: RelayTestStep = { name, state: "waiting", ms: null, code: null };
  if (index > running) return step;
  if (index === running) return { ...step, state: "running" };
  if (name === failing) return { ...step, state: "failed", ms: tookMs[index] ?? 1, code };
  return { ...step, state: "ok", ms: tookMs[index] ?? 1 };
}

function skipRest(step: RelayTestStep): RelayTestStep {
  return step.state === "waiting" || step.state === "running" ? { ...step, state: "skipped" } : step;
}
