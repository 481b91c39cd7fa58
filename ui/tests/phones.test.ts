// Pairing a phone and living with it, by mouse and by keyboard.

import { describe, expect, it } from "vitest";
import { at, play, useWindows } from "./fixture";
import { press } from "./scene";

const open = useWindows();

describe("phones", () => {
  it("are paired from nothing, by the keyboard alone", async () => {
    const page = await open("?scene=phones:none");
    await page.keyboard.press("Control+p");
    await at(page, "no-phones").waitFor();
    await at(page, "pair-phone").focus();
    await page.keyboard.press("Enter");
    await at(page, "qr-code").locator("svg").waitFor();
    // What is read next is what has come.
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("phone-pairing-title");
    expect(await at(page, "phone-network").innerText()).toContain("Only pair on a network you trust.");
  });

  it("show no code once one was used, and say the digits one by one", async () => {
    const page = await open("?scene=phones:contacted");
    await press("phones-open")(page);
    await at(page, "phone-code-used").waitFor();
    expect(await page.locator('[data-testid="qr-code"], [data-testid="copy-phone-link"]').count()).toBe(0);
    const compare = await open("?scene=phones:compare");
    await press("phones-open")(compare);
    expect(await at(compare, "phone-digits").innerText()).toBe("402 917");
    await compare.getByText(/4 0 2 9 1 7/).first().waitFor({ state: "attached" });
  });

  it("are turned away where the digits differ, with words for what that means", async () => {
    const page = await open("?scene=phones:compare");
    await press("phones-open", "phone-different")(page);
    expect(await at(page, "pairing-ended").innerText()).toMatch(/turned away[^]*somebody in this network/);
    expect(await at(page, "phone").count()).toBe(1);
  });

  it("get the groups that were chosen while the code was there", async () => {
    const page = await open("?scene=phones:compare");
    await press("phones-open")(page);
    await at(page, "phone-group").nth(1).uncheck();
    await at(page, "phone-later").first().uncheck();
    await at(page, "phone-same").click();
    await at(page, "phone-paired").waitFor();
    const fresh = page.locator('[data-phone="new"]');
    await fresh.locator("summary").click();
    expect(await fresh.locator('[data-testid="phone-group"]:checked').count()).toBe(1);
    expect(await fresh.locator('[data-testid="phone-later"]').isChecked()).toBe(false);
  });

  it("are told of a group once a second device is in it, which is said where it is chosen", async () => {
    const page = await open("?scene=phones:alone");
    await press("phones-open")(page);
    await page.locator("summary").first().click();
    const hints = at(page, "phone-group-before");
    await hints.first().waitFor();
    const described = page.locator(`[data-group="alone"][aria-describedby="${await hints.getAttribute("id")}"]`);
    expect([await hints.count(), await described.count()]).toEqual([1, 1]);
  });

  it("lose their code when its page is left, unless the person has confirmed", async () => {
    const page = await open("?scene=phones:code");
    await press("phones-open", "settings", "phones-open")(page);
    await at(page, "no-phones").waitFor();
    const confirmed = await open("?scene=phones:finishing");
    await press("phones-open", "settings", "phones-open")(confirmed);
    await at(confirmed, "phone-pairing").waitFor();
  });

  it("are renamed, and unpaired after a question; the focus stays on the list", async () => {
    const page = await open("?scene=phones:list");
    await press("phones-open")(page);
    const first = at(page, "phone").first();
    await first.locator('[data-testid="rename-phone"]').click();
    await at(page, "phone-name").fill("Red phone");
    await page.keyboard.press("Enter");
    await first.getByText("Red phone", { exact: true }).waitFor();
    const count = await at(page, "phone").count();
    await first.locator('[data-testid="unpair-phone"]').click();
    await at(page, "confirm-go").click();
    await page.locator("dialog").waitFor({ state: "detached" });
    expect(await at(page, "phone").count()).toBe(count - 1);
    await page.waitForFunction(() => document.activeElement?.closest('[data-testid="phone"]') !== null);
  });

  it("come in again once the relay is switched on from here", async () => {
    const page = await open("?scene=phones:relay-off");
    await press("phones-open")(page);
    expect(await at(page, "pair-phone").isDisabled()).toBe(true);
    await at(page, "phones-start-relay").click();
    await at(page, "phones-need-relay").waitFor({ state: "detached" });
  });

  it("have a way out where their port is taken", async () => {
    const page = await open("?scene=phones:port");
    await press("phones-open", "phones-new-port")(page);
    expect(await page.locator("dialog").innerText()).toContain("paired again");
    await at(page, "confirm-go").click();
    await page.locator("dialog").waitFor({ state: "detached" });
    await at(page, "phones-new-port").waitFor({ state: "detached" });
  });

  it("say what was refused where it was asked for", async () => {
    const page = await open("?scene=phones:list");
    await play(page, "refuse", "start_phone_pairing", "phones-need-network");
    await press("phones-open", "pair-phone")(page);
    await page.locator('[data-code="phones-need-network"]').waitFor();
  });
});
