import { beforeEach, describe, expect, it } from "vitest";
import type { DeliveryView } from "./bindings/DeliveryView";
import type { RecipientView } from "./bindings/RecipientView";
import { deliverySummary, recipientSummary } from "./delivery";
import { setLanguage } from "./text";

function recipients(...states: RecipientView["state"][]): RecipientView[] {
  return states.map((state, index) => ({ name: `n${index}`, state, reason: state === "failed" ? "expired" : null }));
}

function delivery(state: DeliveryView["state"], list: RecipientView[], reason: DeliveryView["reason"] = null): DeliveryView {
  const onRelay = list.filter((one) => one.state === "onRelay").length;
  return { state, onRelay, total: list.length, keptUntilMs: null, reason, recipients: list };
}

/** Without the invisible marks that keep directions apart. */
function plain(text: string): string {
  return text.replace(/[\u2068\u2069]/g, "");
}

describe("the state of an own message", () => {
  beforeEach(() => setLanguage("en"));

  it.each<[string, DeliveryView]>([
    ["Waiting", delivery("waiting", recipients("waiting", "waiting"))],
    ["Sending", delivery("sending", recipients("sending", "sending"))],
    ["On relay for 2 of 2", delivery("onRelay", recipients("onRelay", "onRelay"))],
    ["On relay for 6 of 7 · 1 waiting", delivery("waiting", recipients("waiting", ...Array<"onRelay">(6).fill("onRelay")))],
    ["On relay for 1 of 2 · 1 sending", delivery("sending", recipients("sending", "onRelay"))],
    ["Failed: not taken within 30 days", delivery("failed", recipients("failed", "failed"), "expired")],
    ["On relay for 1 of 2 · 1 failed: too large for the relay", delivery("failed", recipients("failed", "onRelay"), "tooLarge")],
    ["Only on this device", delivery("onRelay", [])],
  ])("is said as %j", (text, view) => {
    expect(plain(deliverySummary(view))).toBe(text);
  });

  it("never claims more than the relay for one recipient", () => {
    expect(recipients("waiting", "sending", "onRelay", "failed").map((one) => plain(recipientSummary(one)))).toEqual([
      "Waiting",
      "Sending",
      "On relay",
      "Failed: not taken within 30 days",
    ]);
  });

  it("has German words", () => {
    setLanguage("de-AT");
    expect(plain(deliverySummary(delivery("waiting", recipients("waiting", "onRelay"))))).toBe("Auf dem Relay für 1 von 2 · eine wartet");
  });
});
