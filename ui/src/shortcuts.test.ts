import { describe, expect, it } from "vitest";
import { findShortcut, shortcutKeys, shortcuts } from "./shortcuts";

const plain = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, isComposing: false };

describe("shortcuts", () => {
  it("are found by their keys, also with the command key and a shifted slash", () => {
    expect(findShortcut({ ...plain, key: "F", ctrlKey: true })?.text).toBe("shortcut-search");
    expect(findShortcut({ ...plain, key: "f", metaKey: true })?.text).toBe("shortcut-search");
    expect(findShortcut({ ...plain, key: "/", ctrlKey: true, shiftKey: true })?.text).toBe("shortcut-sheet");
    expect(findShortcut({ ...plain, key: "ArrowDown", altKey: true })?.text).toBe("shortcut-group-after");
  });

  it("leave typing, other combinations and input methods alone", () => {
    for (const press of [{ key: "f" }, { key: "f", ctrlKey: true, shiftKey: true }, { key: "f", ctrlKey: true, altKey: true }, { key: "f", ctrlKey: true, isComposing: true }, { key: "ArrowDown" }]) {
      expect(findShortcut({ ...plain, ...press })).toBeNull();
    }
  });

  it("are each something else, with keys to be shown", () => {
    const shown = shortcuts.map((shortcut) => shortcutKeys(shortcut).join("+"));
    expect(new Set(shown).size).toBe(shown.length);
    expect(shown).toContain("Ctrl+/");
    expect(shown).toContain("Alt+↓");
  });
});
