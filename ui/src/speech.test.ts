import { describe, expect, it } from "vitest";
import type { MessageView } from "./bindings/MessageView";
import { onRelay } from "./samples/messages";
import { MessageSpeech } from "./speech";

function row(position: number, own = false, state: "failed" | "onRelay" = "onRelay"): MessageView {
  const delivery = own ? { ...onRelay(["Anna"], 0), state } : null;
  return { position, id: `m${position}`, own, authorId: "a", authorName: "Anna", via: null, text: `text ${position}`, sentAtMs: 0, storedAtMs: 0, delivery };
}

const plain = (text: string): string => text.replace(/[\u2066-\u2069]/g, "");

describe("what is spoken", () => {
  it("is not what was there before, and each new message once", () => {
    const speech = new MessageSpeech();
    speech.begin([row(1), row(2)], false);
    expect(speech.take([row(1), row(2)], false)).toEqual({ spoken: "", firstFresh: null });
    const { spoken, firstFresh } = speech.take([row(1), row(2), row(3), row(4, true)], false);
    expect([plain(spoken), firstFresh]).toEqual(["Anna: text 3", 3]);
    expect(speech.take([row(3), row(4, true)], false).spoken).toBe("");
  });

  it("names the phone that a message was written on", () => {
    const speech = new MessageSpeech();
    speech.begin([], false);
    expect(plain(speech.take([{ ...row(1), via: "Moto" }], false).spoken)).toBe("Anna · from Moto: text 1");
  });

  it("is one sentence for a flood", () => {
    const speech = new MessageSpeech();
    speech.begin([], false);
    const rows = Array.from({ length: 2000 }, (_, index) => row(index + 1));
    expect(speech.take(rows, false).spoken).toMatch(/2,000/);
  });

  it("names an own message that failed, and again only when it fails again", () => {
    const speech = new MessageSpeech();
    speech.begin([row(1, true)], false);
    expect(plain(speech.take([row(1, true, "failed")], false).spoken)).toContain("text 1");
    expect(speech.take([row(1, true, "failed")], false).spoken).toBe("");
    speech.take([row(1, true)], false);
    expect(plain(speech.take([row(1, true, "failed")], false).spoken)).toContain("text 1");
  });

  it("is not the history that a jump brings onto the screen", () => {
    const speech = new MessageSpeech();
    speech.begin([row(1), row(2)], true);
    expect(speech.take([row(1), row(2), row(3)], true).spoken).toBe("");
    expect(speech.take([row(900), row(901)], false).spoken).toBe("");
    expect(plain(speech.take([row(901), row(902)], false).spoken)).toBe("Anna: text 902");
  });
});
