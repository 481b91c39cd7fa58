import { beforeEach, describe, expect, it } from "vitest";
import type { AppError } from "./bindings/AppError";
import { currentLanguage, errorKey, errorText, formatAgo, formatBytes, formatDate, formatDay, formatMoment, formatShort, formatSpan, formatTime, isoTime, setLanguage, startOfDay, t } from "./text";

function plain(text: string): string {
  return text.replace(/[\u2068\u2069\u00a0\u202f]/g, (sign) => (sign > "\u2060" ? "" : " "));
}

describe("texts", () => {
  beforeEach(() => setLanguage("en"));

  // A member may write any time into a message; one that can't be shown would take the group along.
  it("tell any time, however far beyond the calendar", () => {
    for (const language of ["en", "de", "ar"]) {
      setLanguage(language);
      for (const ms of [0, 8.64e15, 8.64e15 + 1, Number(2n ** 63n), Number(2n ** 64n), -1, -9e18]) {
        const texts = [formatTime, formatDate, formatShort, formatMoment, isoTime, formatSpan].map((format) => format(ms));
        for (const text of [...texts, formatDay(ms, 0), formatAgo(ms, 0)]) expect(text.length).toBeGreaterThan(0);
        expect(startOfDay(ms)).not.toBeNaN();
      }
    }
  });

  it("choose the catalogue by the language alone, and English for others", () => {
    for (const [tag, language] of [["de-AT", "de"], ["de_DE", "de"], ["EN-us", "en"], ["fr", "en"], ["", "en"]] as const) {
      setLanguage(tag);
      expect(currentLanguage()).toBe(language);
    }
  });

  it("say an error in three parts with its code", () => {
    const error: AppError = { code: "relay-port-in-use", args: { port: 7700 } };
    const words = errorText(error);
    expect(plain(words.what)).toBe("Another program uses port 7700");
    expect(words.why).not.toBeNull();
    expect(words.action).not.toBeNull();
    expect(words.code).toBe("relay-port-in-use");
  });

  it("take the most exact words there are", () => {
    expect(errorKey({ code: "invitation-invalid", args: { part: "token" } })).toBe("error-invitation-invalid-token");
    expect(errorKey({ code: "profile-not-writable", args: { kind: "permissionDenied" } })).toBe("error-profile-not-writable-permission-denied");
    expect(errorKey({ code: "invitation-invalid", args: { part: "unheardOf" } })).toBe("error-invitation-invalid");
    expect(errorKey({ code: "unheard-of" as AppError["code"], args: {} })).toBe("error-internal");
  });

  it("isolate what others wrote", () => {
    expect(t("message-spoken", { name: "أميرة", text: "hi" })).toBe("\u2068أميرة\u2069: \u2068hi\u2069");
  });

  it("call days by their distance, across the change of the clocks too", () => {
    const at = (day: number, hour: number): number => new Date(2026, 2, day, hour, 30).getTime();
    const now = at(30, 1);
    expect(formatDay(at(30, 0), now)).toBe("Today");
    expect(formatDay(at(29, 0), now)).toBe("Yesterday");
    expect(plain(formatDay(at(28, 23), now))).toContain("March");
    expect(formatDay(new Date(2024, 4, 12).getTime(), now)).toContain("2024");
  });

  it("write sizes for people", () => {
    expect([0, 999, 148_220, 3_200_000].map((bytes) => plain(formatBytes(bytes)))).toEqual(["0 bytes", "999 bytes", "148.2 kB", "3.2 MB"]);
  });
});
