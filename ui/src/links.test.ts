import { describe, expect, it } from "vitest";
import { linkPieces, readLink } from "./links";

function links(line: string): string[] {
  return linkPieces(line).flatMap(({ url, text }) => (url === null ? [] : [text]));
}

describe("links", () => {
  it("are http and https only", () => {
    expect(links("see https://example.org/a?b=1#c and HTTP://EXAMPLE.ORG")).toEqual(["https://example.org/a?b=1#c", "HTTP://EXAMPLE.ORG"]);
    for (const line of ["javascript:alert(1)", "file:///etc/passwd", "trueseal://key@host", "data:text/html,x", "ftp://example.org", "www.example.org", "xhttps:/example.org"]) {
      expect([line, links(line)]).toEqual([line, []]);
    }
  });

  it("leave the signs that end a sentence outside", () => {
    const cases: [string, string][] = [
      ["(https://example.org/x).", "https://example.org/x"],
      ["https://en.example.org/wiki/Seal_(emblem)", "https://en.example.org/wiki/Seal_(emblem)"],
      ["“https://example.org/x”, he said", "https://example.org/x"],
      ["看 https://example.org/路径。", "https://example.org/路径"],
      ["https://example.org/a,b;", "https://example.org/a,b"],
      ["https://example.org/x)))...", "https://example.org/x"],
    ];
    for (const [line, link] of cases) expect(links(line)).toEqual([link]);
  });

  it("don't hide another host behind a name, nor turn around", () => {
    expect(links("https://bank.example@evil.example/")).toEqual([]);
    expect(links("https://example.org/\u202egpj.exe")).toEqual(["https://example.org/"]);
  });

  it("lose no sign of the line, whatever stands in it", () => {
    const parts = ["https://example.org", "http://", "(", ")", ".", " ", "x", "中文", "👍", "https://a.b/c_(d)", "\u202e", "@"];
    let seed = 7;
    for (let round = 0; round < 500; round += 1) {
      let line = "";
      for (let index = 0; index < 9; index += 1) {
        seed = (seed * 48_271) % 2_147_483_647;
        line += parts[seed % parts.length] ?? "";
      }
      const pieces = linkPieces(line);
      expect(pieces.map(({ text }) => text).join("")).toBe(line);
      for (const { url } of pieces) if (url !== null) expect(url).toMatch(/^https?:\/\/[^/@]+\//);
    }
  });

  it("have a bounded length", () => {
    expect(readLink(`https://example.org/${"a".repeat(3000)}`)).toBeNull();
  });
});
