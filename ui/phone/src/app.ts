// Which screen is shown. Owns the language of the page, its title, and when a screen is made
// anew: whenever it is another, or one with other words.

import { cleanName } from "../../src/names";
import { documentLanguage, setLanguage, t } from "../../src/text";
import { describeDevice } from "./device";
import { button, h, type Screen } from "./dom";
import { chosenLanguage, keepLanguage } from "./language";
import { Phone } from "./phone";
import { conversationScreen } from "./screens/conversation";
import { deadEnd, farewell } from "./screens/dead_end";
import { groupsScreen } from "./screens/groups";
import { pairingScreen } from "./screens/pairing";
import { thisPhoneScreen } from "./screens/this_phone";
import { desktopName, failureKey } from "./words";

/** How often what depends on the time is looked at. */
const LOOK_MS = 20_000;

interface Choice {
  /** The screen stays while this does. */
  key: string;
  make: () => Screen;
}

export class App {
  readonly #phone = new Phone();
  readonly #device = describeDevice(navigator.userAgent, navigator.maxTouchPoints);
  #language = chosenLanguage();
  #screen: Screen | null = null;
  #key = "";
  #isDue = false;

  constructor(private readonly root: HTMLElement) {
    this.#phone.onchange = () => this.#schedule();
    this.#speak();
  }

  /** A code that was opened while the page is. */
  take(fragment: string): void {
    void this.#phone.take(fragment, this.#device);
  }

  /** Resolves when codes can be taken. */
  async start(fragment: string): Promise<void> {
    setInterval(() => document.visibilityState === "visible" && this.#schedule(), LOOK_MS);
    document.addEventListener("visibilitychange", () => this.#schedule());
    this.#render();
    await this.#phone.open(fragment, this.#device);
  }

  /** Several changes at once are shown once. */
  #schedule(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#render();
    });
  }

  #render(): void {
    const { key, make } = this.#choose();
    const whole = `${this.#language} ${key}`;
    if (whole !== this.#key) {
      const isFirst = this.#key === "";
      this.#key = whole;
      this.#screen?.left?.();
      this.#screen = make();
      this.root.replaceChildren(this.#screen.element);
      this.#screen.update();
      if (this.#screen.shown !== undefined) this.#screen.shown();
      else if (!isFirst) focusHeading(this.#screen.element);
    } else {
      this.#screen?.update();
    }
    this.#title();
  }

  #choose(): Choice {
    const phone = this.#phone;
    const { view, place, farewell: by } = phone;
    const isLinked = phone.linkedWith !== null;
    if (phone.stage !== "ready") return { key: phone.stage, make: () => this.#unready() };
    if (phone.codeFault !== null && phone.codeFault !== "missing") return { key: `fault ${phone.codeFault}`, make: () => this.#codeFault(isLinked) };
    if (phone.offered !== null) return { key: "offered", make: () => this.#offered() };
    if (view.mode === "pairing") return { key: `pairing ${view.pairing?.phase} ${view.pairing?.desktop}`, make: () => pairingScreen(phone) };
    if (view.failure !== null) return { key: `failure ${view.failure}`, make: () => this.#failed(isLinked) };
    if (isLinked && place.is === "group") return { key: `group ${place.group}`, make: () => conversationScreen(phone, place.group) };
    if (isLinked && place.is === "phone") return { key: "phone", make: () => thisPhoneScreen(phone, this.#language, (language) => this.#changeLanguage(language)) };
    if (isLinked) return { key: "groups", make: () => groupsScreen(phone) };
    if (by !== null) return { key: `farewell ${by}`, make: () => farewell(phone, by) };
    if (phone.isBeginning) return { key: "opening", make: () => this.#unready() };
    return { key: "start", make: () => deadEnd({ sign: "pair", title: t("page-start-title"), about: t("page-start-title.about"), next: t("page-start-title.lost") }) };
  }

  #unready(): Screen {
    const { stage } = this.#phone;
    if (stage === "noStorage") return deadEnd({ sign: "lock", title: t("page-storage-none"), about: t("page-storage-none.about") });
    if (stage === "broken") return deadEnd({ sign: "failed", title: t("page-storage-broken"), about: t("page-storage-broken.about"), reload: true });
    return { element: h("main", { class: "page" }, h("p", { class: "visually-hidden", role: "status" }, t("page-opening"))), update: () => {} };
  }

  #codeFault(isLinked: boolean): Screen {
    const key = this.#phone.codeFault === "version" ? "page-code-version" : "page-code-damaged";
    return deadEnd({ sign: "failed", title: t(key), about: t(`${key}.about`), done: isLinked ? () => void this.#phone.dismiss() : undefined });
  }

  #failed(isLinked: boolean): Screen {
    const failure = this.#phone.view.failure ?? "ended";
    const key = failureKey(failure);
    return deadEnd({ sign: "failed", title: t(key), about: t(`${key}.about`), next: t("page-scan-again"), reload: failure === "refused", done: isLinked ? () => void this.#phone.dismiss() : undefined });
  }

  #offered(): Screen {
    const phone = this.#phone;
    const more = [
      button("wide primary", t("page-replace-go"), "replace", () => void phone.acceptOffer(this.#device)),
      button("wide", t("page-replace-keep"), "keep", () => phone.declineOffer()),
    ];
    return deadEnd({ sign: "pair", title: t("page-replace-title", { desktop: desktopName(phone.desktop) }), about: t("page-replace-title.about"), more });
  }

  #title(): void {
    const { place, groups, linkedWith, unreadTotal } = this.#phone;
    const group = place.is === "group" && linkedWith !== null ? groups?.groups.find(({ id }) => id === place.group) : undefined;
    const name = cleanName(group?.name ?? "");
    const where = name === "" ? "Sealpost" : `${name} · Sealpost`;
    const title = unreadTotal > 0 && linkedWith !== null ? `(${unreadTotal}) ${where}` : where;
    if (document.title !== title) document.title = title;
  }

  #changeLanguage(language: string): void {
    keepLanguage(language);
    this.#language = language;
    this.#speak();
    this.#schedule();
  }

  #speak(): void {
    setLanguage(this.#language === "" ? navigator.language : this.#language);
    document.documentElement.lang = documentLanguage();
  }
}

/** Whoever listens instead of looking goes on where the new screen begins. */
function focusHeading(screen: HTMLElement): void {
  const heading = screen.querySelector("h1");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
}
