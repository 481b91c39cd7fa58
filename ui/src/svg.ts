// Reads the drawing of a pairing code. Only shapes come through: whatever else an SVG
// can hold (scripts, links, styles, foreign content) is left behind.

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = new Set(["svg", "g", "path", "rect"]);
const ATTRIBUTES = new Set([
  "d", "fill", "height", "shape-rendering", "transform", "viewBox", "width", "x", "y",
]);

/** The drawing as an element of its own, or null when it isn't one. */
export function readDrawing(source: string): SVGElement | null {
  const root = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  const drawing = copyShape(root);
  if (drawing === null || drawing.tagName !== "svg") return null;
  scaleByBox(drawing);
  return drawing;
}

function copyShape(from: Element): SVGElement | null {
  if (from.namespaceURI !== SVG || !SHAPES.has(from.localName)) return null;
  const copy = document.createElementNS(SVG, from.localName);
  for (const { name, value } of from.attributes) {
    if (ATTRIBUTES.has(name)) copy.setAttribute(name, value);
  }
  for (const child of from.children) {
    const shape = copyShape(child);
    if (shape !== null) copy.append(shape);
  }
  return copy;
}

/** Lets the page choose the size: the given one becomes the box it is drawn in. */
function scaleByBox(drawing: SVGElement): void {
  const width = drawing.getAttribute("width") ?? "1";
  const height = drawing.getAttribute("height") ?? "1";
  if (!drawing.hasAttribute("viewBox")) {
    drawing.setAttribute("viewBox", `0 0 ${parseFloat(width)} ${parseFloat(height)}`);
  }
  drawing.removeAttribute("width");
  drawing.removeAttribute("height");
  drawing.setAttribute("shape-rendering", "crispEdges");
}
