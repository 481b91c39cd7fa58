import { describe, expect, it } from "vitest";
import { makeApi } from "./api";
import type { AppView } from "./bindings/AppView";
import type { GroupView } from "./bindings/GroupView";
import { group, joiningGroup, sceneView, words } from "./samples/view";
import { Desk } from "./state.svelte";

const asked: [string, object][] = [];

function openDesk(view: AppView, isTight = false): Desk {
  asked.length = 0;
  const desk = new Desk(
    makeApi({
      call: (command, args) => {
        asked.push([command, args]);
        return Promise.resolve(view);
      },
      listen: () => Promise.resolve(),
    }),
    () => isTight,
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

  it("keeps what it was told while it asked for the first view", async () => {
    const newer = ready(group("a", "A", []), group("b", "B", []));
    let tell: (view: AppView) => void = () => undefined;
    const desk = new Desk(
      makeApi({
        call: () => {
          tell(newer);
          return Promise.resolve(ready(group("a", "A", [])));
        },
        listen: (event, handler) => {
          if (event === "view") tell = handler as typeof tell;
          return Promise.resolve();
        },
      }),
      () => false,
    );
    await desk.open();
    expect(desk.view).toEqual(newer);
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

  it("opens the group again that was open before a lock", () => {
    const view = ready(group("a", "A", []), group("b", "B", []));
    const desk = openDesk(view);
    desk.openGroup("b");
    desk.handleView({ ...view, screen: "passphrase", groups: [] });
    desk.handleView(view);
    expect(desk.place).toEqual({ at: "group", group: "b" });
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

  it("leads there too when the code is gone before it is said to have done its work", () => {
    const desk = openDesk(ready({ ...group("a", "A", []), pairing }));
    desk.go({ at: "pair", group: "a", tab: "show" });
    desk.handleView(ready(group("a", "A", [])));
    expect(desk.place.at).toBe("pair");
    desk.handleView(ready({ ...group("a", "A", []), pairingClosed: "accepted" }));
    expect(desk.place).toEqual({ at: "group", group: "a" });
    // Once: whoever opens the page again stays there.
    desk.go({ at: "pair", group: "a", tab: "show" });
    desk.handleView(ready({ ...group("a", "A", []), pairingClosed: "accepted" }));
    expect(desk.place.at).toBe("pair");
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
    desk.handleView(ready({ ...joined, join: { words, confirmed: false, progress: "onRelay" } }));
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

  it("goes where something outside leads, once", () => {
    const view = ready(group("a", "A", []), group("b", "B", []));
    const desk = openDesk(view);
    const destination = { id: 7, place: "group" as const, group: "b", invitation: null };
    desk.handleView({ ...view, destination });
    expect(desk.place).toEqual({ at: "group", group: "b" });
    desk.openGroup("a");
    desk.handleView({ ...view, destination });
    expect(desk.place).toEqual({ at: "group", group: "a" });
    expect(asked.filter(([command]) => command === "arrived")).toEqual([["arrived", { id: 7 }]]);
    desk.handleView({ ...view, destination: { id: 8, place: "join", group: null, invitation: "trueseal://x" } });
    expect(desk.place).toEqual({ at: "pair", group: null, tab: "enter", invitation: "trueseal://x" });
    desk.handleView({ ...view, destination: { id: 9, place: "issues", group: null, invitation: null } });
    expect(desk.place).toEqual({ at: "issues" });
  });

  it("lets no panel cover what somebody goes to, where there is no room for both", () => {
    const view = ready(group("a", "A", []), group("b", "B", []));
    const moves: ((desk: Desk) => void)[] = [
      (desk) => desk.openGroup("b"),
      (desk) => desk.openGroup("a"),
      (desk) => desk.openNeighbour(1),
      (desk) => desk.go({ at: "settings" }),
      (desk) => desk.back(),
      (desk) => desk.handleView({ ...view, destination: { id: 1, place: "group", group: "a", invitation: null } }),
      (desk) => desk.handleView({ ...view, destination: { id: 1, place: "issues", group: null, invitation: null } }),
      (desk) => desk.handleView({ ...view, destination: { id: 1, place: "join", group: null, invitation: "x" } }),
      (desk) => desk.handleView(ready(group("b", "B", []))),
    ];
    for (const move of moves) {
      for (const isTight of [true, false]) {
        const desk = openDesk(view, isTight);
        desk.toggle("members");
        move(desk);
        expect(desk.panel).toBe(isTight ? null : "members");
      }
    }
    const desk = openDesk(view, true);
    desk.handleView({ ...view, destination: { id: 1, place: "relay", group: null, invitation: null } });
    expect(desk.panel).toBe("relay");
  });

  it("takes note of each arrival, also in the group that is open", () => {
    const view = ready(group("a", "A", []));
    const desk = openDesk(view);
    for (const id of [4, 4, 5]) desk.handleView({ ...view, destination: { id, place: "group", group: "a", invitation: null } });
    expect([desk.landings, desk.arrivedAt]).toEqual([2, 5]);
  });

  it("goes through the groups by key, and back to the one that was open", () => {
    const desk = openDesk(ready(group("a", "A", []), group("b", "B", []), group("c", "C", [])));
    desk.openNeighbour(1);
    expect(desk.place).toEqual({ at: "group", group: "b" });
    desk.openNeighbour(-1);
    desk.openNeighbour(-1);
    expect(desk.place).toEqual({ at: "group", group: "c" });
    desk.go({ at: "settings" });
    desk.back();
    expect(desk.place).toEqual({ at: "group", group: "c" });
  });

  it("tells the app which group is on the screen, and each time once", () => {
    const desk = openDesk(ready(group("a", "A", [])));
    for (const shown of ["a", "a", null, null, "a"]) desk.show(shown);
    expect(asked.filter(([command]) => command === "showing").map(([, args]) => args)).toEqual([
      { group: "a", issues: false },
      { group: null, issues: false },
      { group: "a", issues: false },
    ]);
  });

  it("tells the app that it is used, but not with each key", () => {
    const desk = openDesk(ready(group("a", "A", [])));
    const told = (): number => asked.filter(([command]) => command === "used").length;
    desk.noteUse(0);
    for (let nowMs = 1; nowMs <= 60_000; nowMs += 50) desk.noteUse(nowMs);
    expect(told()).toBeGreaterThan(1);
    expect(told()).toBeLessThanOrEqual(7);
  });

  it("knows when not even the first view can be had", async () => {
    const desk = new Desk(makeApi({ call: () => Promise.reject(new Error("no app")), listen: () => Promise.resolve() }), () => false);
    await desk.open();
    expect(desk.isBroken).toBe(true);
  });
});
