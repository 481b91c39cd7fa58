// Elements, made by hand. Owns the one way in which text gets onto the page: as text. There is
// no markup in strings anywhere.

export type Child = Node | string | null | false | readonly Child[];

type Handlers = { [Name in "onclick" | "onsubmit" | "oninput" | "onchange" | "onkeydown" | "onscroll"]?: (event: Event) => void };
export type Props = Handlers & Record<string, unknown>;

/** An element; a property of null or false is left away, a function becomes its handler. */
export function h<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === false || value === undefined) continue;
    if (typeof value === "function") Object.assign(element, { [name]: value });
    else element.setAttribute(name === "test" ? "data-testid" : name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === false) continue;
    if (isList(child)) append(parent, child);
    else parent.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
  }
}

function isList(child: Child): child is readonly Child[] {
  return Array.isArray(child);
}

/** A name of somebody else's making, whatever its direction. */
export function bdi(text: string, className = ""): HTMLElement {
  return h("bdi", className === "" ? {} : { class: className }, text);
}

/** For screen readers only. */
export function spoken(text: string): HTMLElement {
  return h("span", { class: "visually-hidden" }, text);
}

export function button(className: string, text: string, test: string, onclick: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: `button ${className}`, test, onclick }, text);
}

/** A button that is a sign; its name is said and shown on pointing. */
export function iconButton(sign: Node, name: string, test: string, onclick: () => void): HTMLButtonElement {
  return h("button", { type: "button", class: "icon-button", "aria-label": name, title: name, test, onclick }, sign);
}

/** A drawing of a few shapes. */
export function drawing(size: number, className: string, shapes: readonly (readonly [string, Record<string, string>])[]): SVGSVGElement {
  const name = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(name, "svg");
  for (const [attribute, value] of Object.entries({ viewBox: `0 0 ${size} ${size}`, class: className, "aria-hidden": "true", focusable: "false" })) svg.setAttribute(attribute, value);
  for (const [tag, attributes] of shapes) {
    const shape = document.createElementNS(name, tag);
    for (const [attribute, value] of Object.entries(attributes)) {
      if (attribute === "text") shape.textContent = value;
      else shape.setAttribute(attribute, value);
    }
    svg.append(shape);
  }
  return svg;
}

/** A part of the page that is made anew only when what it shows is another. */
export class Part {
  #shown: string | null = null;

  constructor(readonly element: HTMLElement) {}

  /** `content` is called when `state` differs from the last one. */
  show(state: unknown, content: () => Child): void {
    const shown = JSON.stringify(state);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const focused = this.element.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset["testid"] : undefined;
    this.element.replaceChildren();
    append(this.element, [content()]);
    // Whoever was at a button that is still there stays at it.
    if (focused !== undefined) this.element.querySelector<HTMLElement>(`[data-testid="${focused}"]`)?.focus({ preventScroll: true });
  }
}

/** What fills the page at a time. */
export interface Screen {
  readonly element: HTMLElement;
  /** Shows what has changed. */
  update(): void;
  /** It was put into the page. */
  shown?(): void;
  left?(): void;
}
