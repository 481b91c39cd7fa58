import { describe, expect, it } from "vitest";
import { makeApi } from "./api";
import type { AppView } from "./bindings/AppView";
import type { GroupView } from "./bindings/GroupView";
import { group, joiningGroup, sceneView, words } from "./samples/view";
import { Desk } from "./state.svelte";

const asked: [string, object][] = [];

function openDesk(view: AppView): Desk {
  asked.length = 0;
  const desk = new Desk(
    makeApi({
      call: (command, args) => {
        asked.push([command, args]);
        return Promise.resolve(view);
      },
      listen: () => Promise.resolve(),
    }),
  );
  desk.handleView(view);
  return desk;
}

function ready(...groups: GroupView[]): AppView {
  return { ...sceneView("usual", "en"), groups };
}

const pairing = { link: "trueseal://…", qrSvg: "", expiresAtMs: 0, requests: [] };

describe("the desk", () => {
  it("opens the first group at start", () => {
    expect(openDesk(ready(group("a", "A", []))).place).toEqual({ at: "group", group: "a" });
  });

  it("stays where the person is when the first group comes to be", () => {
    const desk = openDesk(sceneView("first", "en"));
    desk.handleView(ready(group("a", "A", [])));
    expect(desk.place).toEqual({ at: "start" });
  });

  it("opens the first group after an unlock", () => {
    const desk = openDesk(sceneView("passphrase", "en"));
    desk.handleView(ready(group("a", "A", [])));
    expect(desk.place).toEqual({ at: "group", group: "a" });
  });

  it("closes an open code when its page is left, and says so", () => {
    const desk = openDesk(ready({ ...group("a", "A", []), pairing }));
    desk.go({ at: "pair", group: "a", tab: "show" });
    desk.go({ at: "pair", group: "a", tab: "enter" });
    expect(asked).toEqual([]);
    desk.openGroup("a");
    expect(asked).toEqual([["cancel_pairing", { group: "a" }]]);
    expect(desk.codeClosed).toBe(true);
    desk.go({ at: "about" });
    expect(desk.codeClosed).toBe(false);
  });

  it("leads from the code to the conversation when a device was accepted", () => {
    const desk = openDesk(ready({ ...group("a", "A", []), pairing }));
    desk.go({ at: "pair", group: "a", tab: "show" });
    desk.handleView(ready({ ...group("a", "A", []), pairingClosed: "accepted" }));
    expect(desk.place).toEqual({ at: "group", group: "a" });
    expect(desk.welcome.has("a")).toBe(true);
    desk.endWelcome("a");
    expect(desk.welcome.has("a")).toBe(false);
  });

  it.each(["expired", "cancelled"] as const)("stays on the page of a code that is %s", (pairingClosed) => {
    const desk = openDesk(ready({ ...group("a", "A", []), pairing }));
    desk.go({ at: "pair", group: "a", tab: "show" });
    desk.handleView(ready({ ...group("a", "A", []), pairingClosed }));
    expect(desk.place.at).toBe("pair");
    expect(desk.welcome.size).toBe(0);
  });

  it("greets the joining side once the words were confirmed and it is in", () => {
    const joined = { ...joiningGroup(true), status: "member" as const };
    const desk = openDesk(ready(joiningGroup(false)));
    desk.handleView(ready({ ...joined, join: { words, confirmed: false } }));
    expect(desk.welcome.size).toBe(0);
    desk.handleView(ready(joined));
    expect(desk.welcome.has("joining")).toBe(true);
  });

  it("leaves the place of a group that has gone", () => {
    const desk = openDesk(ready(group("a", "A", []), joiningGroup(false)));
    desk.openGroup("joining");
    desk.handleView(ready(group("a", "A", [])));
    expect(desk.place).toEqual({ at: "group", group: "a" });
    desk.handleView(sceneView("first", "en"));
    expect(desk.place).toEqual({ at: "start" });
  });

  it("keeps a draft for each group", () => {
    const desk = openDesk(ready(group("a", "A", []), group("b", "B", [])));
    desk.keepDraft("a", "half a thought");
    expect([desk.draft("a"), desk.draft("b")]).toEqual(["half a thought", ""]);
  });

  it("knows when not even the first view can be had", async () => {
    const desk = new Desk(makeApi({ call: () => Promise.reject(new Error("no app")), listen: () => Promise.resolve() }));
    await desk.open();
    expect(desk.isBroken).toBe(true);
  });
});
