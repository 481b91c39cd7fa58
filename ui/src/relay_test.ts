// The steps of a relay's test in words.

import type { RelayTestState } from "./bindings/RelayTestState";
import type { RelayTestStep } from "./bindings/RelayTestStep";
import type { RelayTestStepName } from "./bindings/RelayTestStepName";
import type { RelayTestView } from "./bindings/RelayTestView";
import { formatNumber, hasText, t } from "./text";

const stepKeys: Record<RelayTestStepName, string> = {
  connect: "test-step-connect",
  key: "test-step-key",
  lookUp: "test-step-look-up",
  protocol: "test-step-protocol",
  push: "test-step-push",
  receive: "test-step-receive",
};

const stateKeys: Record<RelayTestState, string> = {
  failed: "test-failed",
  ok: "test-ok",
  running: "test-running",
  skipped: "test-skipped",
  waiting: "test-waiting",
};

export function stepName(step: RelayTestStep): string {
  return t(stepKeys[step.name]);
}

/** How a step ended, with its time. */
export function stepResult(step: RelayTestStep): string {
  const words = t(stateKeys[step.state]);
  return step.ms === null ? words : t("test-took", { result: words, ms: formatNumber(step.ms) });
}

/** What is wrong with a step and what to do; null where nothing is. */
export function stepTrouble(step: RelayTestStep): { why: string; action: string } | null {
  if (step.state !== "failed") return null;
  const exact = `relay-test-${(step.code ?? "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const key = step.code !== null && hasText(exact) ? exact : "relay-test-failed";
  return { why: t(key), action: hasText(`${key}.action`) ? t(`${key}.action`) : t("relay-test-failed.action") };
}

/** The whole in one sentence, to be spoken. */
export function testSummary(test: RelayTestView): string {
  const failed = test.steps.find((step) => step.state === "failed");
  return failed === undefined ? t("test-all-well") : t("test-failed-at", { step: stepName(failed) });
}
