// The main job, as a person does it: start, pair from either side, write, read.

import { describe, expect, it } from "vitest";
import { at, openGroup, play, settled, useWindows } from "./fixture";

const KEY = "38ab664bd86f77d7e66bdd9ae0792913a94fd8b33a1260027e4b46c1f4884c67";
const LINK = `trueseal://${KEY}@192.168.178.24:7700?push=7701#tsp1_q83vASNFZ4mrze8BI0Vni`;

const open = useWindows();

describe("the admitting side", () => {
  it("goes from the first start to the first message in three clicks", async () => {
    const page = await open("?scene=first");
    expect(await at(page, "device-name").inputValue()).toBe("Laptop");
    await at(page, "start-group").click();
    await at(page, "qr-code").locator("svg").waitFor();
    expect(await at(page, "invitation-link").inputValue()).toMatch(/^trueseal:\/\//);
    await play(page, "request", "group-1", "Pixel 9", ["lemon", "orbit", "patient", "quilt"]);
    expect(await at(page, "words").innerText()).toMatch(/lemon[^]*orbit[^]*patient[^]*quilt/);
    await at(page, "accept").click();
    await at(page, "paired").waitFor();
    expect(await at(page, "composer").evaluate((field) => field === document.activeElement)).toBe(true);
    await page.keyboard.type("Hello");
    await page.keyboard.press("Enter");
    await at(page, "delivery-state").and(page.locator('[data-state="onRelay"]')).waitFor();
    expect(await at(page, "delivery-state").innerText()).toBe("On relay for 1 of 1");
    expect(await at(page, "paired").count()).toBe(0);
  });

  it("copies the link and says so", async () => {
    const page = await open();
    await at(page, "pair-device").click();
    await at(page, "copy-link").click();
    await page.getByText("Copied").first().waitFor();
    const copied = await page.evaluate(() => (globalThis as unknown as { sampleApp: { copied: string[] } }).sampleApp.copied);
    expect(copied).toEqual([await at(page, "invitation-link").inputValue()]);
  });

  it("dismisses a request, and closes the code when its page is left", async () => {
    const page = await open();
    await at(page, "pair-device").click();
    await at(page, "qr-code").waitFor();
    await play(page, "request", "devices", "Stranger");
    await at(page, "dismiss").click();
    await at(page, "join-request").waitFor({ state: "detached" });
    await at(page, "back").click();
    await at(page, "code-closed-left").waitFor();
  });

  it("offers one way on from a code that has ended", async () => {
    const page = await open();
    await at(page, "pair-device").click();
    await at(page, "close-code").click();
    await at(page, "new-code").click();
    await at(page, "qr-code").locator("svg").waitFor();
  });
});

describe("the joining side", () => {
  it("takes a wrapped link, says which relay before it connects, compares and waits", async () => {
    const page = await open("?scene=first");
    await at(page, "join-with-code").click();
    await at(page, "invitation-input").fill(`<${LINK.slice(0, 60)}\n${LINK.slice(60, 100)}\n${LINK.slice(100)}>`);
    expect(await at(page, "preview-relay").innerText()).toBe("192.168.178.24");
    await at(page, "connect").click();
    await at(page, "words-same").waitFor();
    expect((await at(page, "words").innerText()).match(/[a-z]+/g)).toEqual(["harbor", "velvet", "cactus", "march"]);
    await at(page, "words-same").click();
    await page.getByText("Waiting for somebody to press").waitFor();
    await play(page, "change", "joining", { status: "member" });
    await at(page, "paired").waitFor();
    await at(page, "composer").waitFor();
  });

  it("can stop at the words and while it waits, and is back at the start", async () => {
    for (const button of ["words-different", "cancel-join"]) {
      const page = await open("?scene=first");
      await at(page, "join-with-code").click();
      await at(page, "invitation-input").fill(LINK);
      await at(page, "connect").click();
      await at(page, button).click();
      await at(page, "device-name").waitFor();
    }
  });

  it("names what is wrong with a code, in three parts", async () => {
    const page = await open("?scene=first");
    await at(page, "join-with-code").click();
    for (const [text, code] of [["https://example.org", "invitation-invalid-scheme"], [LINK.slice(0, 90), "invitation-invalid-token"], ["   \n", null]] as const) {
      await at(page, "invitation-input").fill(text);
      if (code === null) await at(page, "error").waitFor({ state: "detached" });
      else await page.locator(`[data-testid="error"][data-code="${code}"]`).waitFor();
      expect(await at(page, "connect").isDisabled()).toBe(true);
    }
  });

  it("asks for the relay of a bare code", async () => {
    const page = await open("?scene=first");
    await at(page, "join-with-code").click();
    await at(page, "invitation-input").fill("tsp1_q83vASNFZ4mrze8BI0Vni");
    await at(page, "relay-address").waitFor();
    expect(await at(page, "connect").isDisabled()).toBe(true);
    await at(page, "relay-address").fill(LINK.split("#")[0] ?? "");
    expect(await at(page, "connect").isDisabled()).toBe(false);
  });

  it("reads a picture that is opened, pasted or dropped", async () => {
    const page = await open("?scene=first");
    await at(page, "join-with-code").click();
    const file = { name: "code.png", mimeType: "image/png", buffer: Buffer.alloc(400, 7) };
    await at(page, "image-input").setInputFiles(file);
    await at(page, "invitation-preview").waitFor();
    for (const kind of ["paste", "drop"]) {
      await at(page, "invitation-input").fill("");
      await at(page, "invitation-preview").waitFor({ state: "detached" });
      await at(page, "invitation-input").evaluate((field, name) => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(400)], "code.png", { type: "image/png" }));
        const init = { bubbles: true, cancelable: true };
        field.dispatchEvent(name === "paste" ? new ClipboardEvent("paste", { ...init, clipboardData: data }) : new DragEvent("drop", { ...init, dataTransfer: data }));
      }, kind);
      await at(page, "invitation-preview").waitFor();
    }
    await at(page, "image-input").setInputFiles({ ...file, buffer: Buffer.alloc(10) });
    await page.locator('[data-code="image-holds-no-code"]').waitFor();
  });
});

describe("the composer", () => {
  it("sends on Enter, breaks on Shift+Enter, and leaves an input method alone", async () => {
    const page = await open();
    await at(page, "composer").fill("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    await at(page, "composer").evaluate((field) => {
      for (const init of [{ isComposing: true }, { keyCode: 229 }]) {
        field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ...init }));
      }
    });
    expect(await at(page, "composer").inputValue()).toBe("one\ntwo");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('[data-testid="composer"]')?.value === "");
    await at(page, "message-text").last().getByText("two").waitFor();
    expect(await at(page, "message-text").last().locator("p").allInnerTexts()).toEqual(["one", "two"]);
  });

  it("keeps each group's draft, and cuts nothing that is too long", async () => {
    const page = await open();
    await at(page, "composer").fill("half a thought");
    await openGroup(page, "empty");
    expect(await at(page, "composer").inputValue()).toBe("");
    await openGroup(page, "devices");
    expect(await at(page, "composer").inputValue()).toBe("half a thought");
    const long = "ä".repeat(30_721);
    await at(page, "composer").fill(long);
    expect(await at(page, "byte-counter").innerText()).toContain("2 bytes too long");
    expect(await at(page, "send").isDisabled()).toBe(true);
    expect((await at(page, "composer").inputValue()).length).toBe(long.length);
  });
});

describe("the panels", () => {
  it("switch the relay off and on, and list the members with this device", async () => {
    const page = await open();
    await at(page, "show-relay").click();
    expect(await at(page, "relay-switch").getAttribute("aria-checked")).toBe("true");
    await at(page, "relay-switch").click();
    await page.locator('[data-testid="relay-card"][data-state="off"]').waitFor();
    await at(page, "relay-switch").click();
    await page.locator('[data-testid="relay-card"][data-state="on"]').waitFor();
    await at(page, "show-members").click();
    expect(await at(page, "member").first().innerText()).toContain("This device");
    await page.keyboard.press("Escape");
    await at(page, "members-panel").waitFor({ state: "detached" });
    await settled(page);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("open-members");
  });

  it("show where a message is for each device, and give the focus back", async () => {
    const page = await open();
    await openGroup(page, "states");
    const state = at(page, "delivery-state").nth(3);
    await state.focus();
    await page.keyboard.press("Enter");
    expect(await at(page, "recipients").locator("li").first().innerText()).toMatch(/Anna[^]*Failed/);
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    expect(await state.evaluate((button) => button === document.activeElement)).toBe(true);
  });
});

describe("the keys", () => {
  it("have words and a way on for each trouble of the keychain", async () => {
    const titles = new Set<string>();
    for (const kind of ["missing", "locked", "dismissed", "damaged", "otherProfile"]) {
      const page = await open(`?scene=keychain:${kind}`);
      titles.add(await at(page, "keychain-trouble").innerText());
      await at(page, "try-keychain-again").click();
      await page.getByText("still the same").waitFor();
      expect(await at(page, "use-passphrase").count()).toBe(kind === "missing" || kind === "dismissed" ? 1 : 0);
    }
    expect(titles.size).toBe(5);
  });

  it("lie behind a passphrase if that was chosen", async () => {
    const page = await open("?scene=keychain:missing");
    await at(page, "use-passphrase").click();
    await at(page, "passphrase").fill("correct horse");
    await at(page, "passphrase-again").fill("correct hors");
    expect(await at(page, "passphrase-submit").isDisabled()).toBe(true);
    await at(page, "passphrase-again").fill("correct horse");
    await at(page, "passphrase-submit").click();
    await at(page, "device-name").waitFor();
  });

  it("open with the right passphrase only", async () => {
    const page = await open("?scene=passphrase");
    await at(page, "passphrase").fill("wrong");
    await page.keyboard.press("Enter");
    await page.locator('[data-code="passphrase-wrong"]').waitFor();
    await at(page, "passphrase").fill("correct horse");
    await page.keyboard.press("Enter");
    await at(page, "groups").waitFor();
  });
});
