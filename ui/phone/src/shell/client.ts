// The page's one actor: it owns the machine of the link or of the pairing while this tab
// leads, commits its steps and does their effects. Decides nothing itself.
//
// Invariants: a step is committed before its effects run and before anything is shown; steps
// follow each other, never side by side; a tab that doesn't lead only stores and shows.

import type { FromPhone } from "../feed";
import type { PairingCode } from "../link/code";
import { Erasing } from "../link/erasing";
import type { Random } from "../link/key";
import { Link } from "../link/link";
import { newPayloadId } from "../link/payload";
import { LinkPairing, type ToldFailure } from "../link/pairing";
import type { Erasure, LinkEffect } from "../link/step";
import { ClockSteps } from "./clock";
import type { HttpTransport } from "./http";
import { LeadLost, type PhoneStore } from "./store";
import type { Tabs, TabAct } from "./tabs";
import { EMPTY_VIEW, type PhoneView } from "./view";
import { Watches } from "./watch";

const TIMER_MS_MAX = 2 ** 31 - 1;

type Machine = { is: "link"; link: Link } | { is: "pairing"; link: LinkPairing };

export class PhoneClient {
  #machine: Machine | null = null;
  #erasing: Erasing | null = null;
  #isErasing = false;
  #chain: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #watches: Watches;
  #view: PhoneView = EMPTY_VIEW;
  #generation = 0;
  readonly #steps: ClockSteps;
  /** Called after everything that changes what is shown. */
  onview: (view: PhoneView) => void = () => {};
  ondata: () => void = () => {};
  onbroken: () => void = () => {};

  constructor(
    private readonly store: PhoneStore,
    private readonly transport: HttpTransport,
    private readonly tabs: Tabs,
    private readonly random: Random,
    private readonly now: () => number,
    private readonly steady: () => number, // A clock that nobody sets.
  ) {
    this.#steps = new ClockSteps(now(), steady());
    this.#watches = new Watches(transport, (event) => this.#do(({ link }) => link.handleWatch(event, this.now())));
    transport.onclock = (relayMs) => this.#handleClock(relayMs);
    tabs.onlead = (leads) => void this.#step(() => (leads ? this.#load() : this.#unload()));
    tabs.onview = (view) => this.#show(view);
    tabs.ondata = () => this.ondata();
    tabs.onact = (act) => this.#handleAct(act);
  }

  /** Joins with a code that was scanned: stored first, then done by whoever leads. */
  async pair(code: PairingCode, phone: { name: string; platform: string }): Promise<void> {
    const begun = LinkPairing.begin(code, phone, this.random, this.now()).drain(this.now());
    if (begun.is === "going") await this.store.beginPairing(begun.record);
    this.act({ is: "reload" });
  }

  /** Takes something for the desktop; stored when this returns. */
  async queue(body: FromPhone): Promise<boolean> {
    const row = await this.store.queue(body, newPayloadId(this.random), this.now());
    this.act({ is: "queued" });
    this.ondata();
    return row !== null;
  }

  /** Does it here, or asks the tab that leads. */
  act(act: TabAct): void {
    if (this.tabs.leads) this.#handleAct(act);
    else this.tabs.ask(act);
  }

  handleVisible(isVisible: boolean): void {
    this.#do(({ link }) => link.handleVisible(isVisible, this.now()));
  }

  handleOnline(): void {
    this.#erasing?.wake();
    this.#do(({ link }) => link.handleOnline(this.now()));
    void this.#erase();
  }

  #handleAct(act: TabAct): void {
    switch (act.is) {
      case "reload":
        void this.#step(() => this.#load());
        break;
      case "queued":
        void this.#step(() => this.#adopt());
        break;
      case "retry":
        this.handleOnline();
        break;
      case "digits":
        this.#do((machine) => machine.is === "pairing" && machine.link.answerDigits(act.isSame));
        break;
      case "cancel":
        this.#do((machine) => machine.is === "pairing" && machine.link.cancel());
        break;
      case "unpair":
        this.#do((machine) => machine.is === "link" && machine.link.unpair(this.now()));
        break;
      case "look":
        this.tabs.tell(this.#view);
        break;
      case "read":
        this.#show({ ...this.#view, failure: null });
        this.tabs.tell(this.#view);
        break;
    }
  }

  /** Hands something to the machine, after everything before it. */
  #do(work: (machine: Machine) => unknown): void {
    const generation = this.#generation;
    void this.#step(async () => {
      if (this.#machine === null || generation !== this.#generation || !this.tabs.leads) return;
      this.#enter(this.#machine);
      work(this.#machine);
      await this.#drain();
    });
  }

  /** A clock that is set right makes nothing older that waits. */
  #enter({ is, link }: Machine): void {
    const byMs = this.#steps.look(this.now(), this.steady());
    if (is === "link" && byMs > 0) link.handleClockStep(byMs, this.now());
  }

  #step(work: () => void | Promise<void>): Promise<void> {
    this.#chain = this.#chain
      .then(work)
      .catch((error: unknown) => this.#recover(error))
      .catch(() => {
        // What could not be stored was not done either; only a fresh start is sure of it.
        this.#unload();
        this.tabs.leave();
        this.onbroken();
      });
    return this.#chain;
  }

  /** Another tab led, or took a code. */
  async #recover(error: unknown): Promise<void> {
    if (!(error instanceof LeadLost)) throw error;
    this.#unload();
    this.tabs.settle();
    await this.#load();
    this.tabs.ask({ is: "look" });
    this.ondata();
  }

  async #load(failure: ToldFailure | null = null): Promise<void> {
    this.#unload();
    if (!this.tabs.leads) return;
    await this.store.lead(this.tabs.nextLead());
    const [pairing, snapshot, erasures] = [await this.store.pairing(), await this.store.snapshot(), await this.store.erasures()];
    this.#erasing = new Erasing(erasures, this.random);
    if (pairing !== null) this.#machine = { is: "pairing", link: new LinkPairing(pairing, this.random) };
    else if (snapshot !== null) this.#machine = { is: "link", link: new Link(snapshot, this.random) };
    this.#view = { ...this.#view, failure };
    if (this.#machine !== null) this.#enter(this.#machine);
    this.#machine?.link.handleVisible(document.visibilityState === "visible", this.now());
    await this.#drain();
    this.#publish(true);
    void this.#erase();
  }

  #unload(): void {
    this.#generation += 1;
    this.#machine = null;
    clearTimeout(this.#timer);
    this.#watches.closeAll();
  }

  /** Rows that any tab has stored. */
  async #adopt(): Promise<void> {
    if (this.#machine?.is !== "link") return;
    const snapshot = await this.store.snapshot();
    this.#enter(this.#machine);
    this.#machine.link.adopt(snapshot?.outbox ?? [], this.now());
    await this.#drain();
  }

  async #drain(): Promise<void> {
    if (this.#machine?.is === "link") await this.#drainLink(this.#machine.link);
    if (this.#machine?.is === "pairing") await this.#drainPairing(this.#machine.link);
    this.#setTimer();
  }

  async #drainLink(link: Link): Promise<void> {
    const { changes, effects } = link.drain();
    if (changes.length > 0) await this.store.commit(changes);
    for (const effect of effects) this.#perform(link, effect);
    if (link.isGone) {
      await this.#load();
      this.#publish(true);
      return;
    }
    this.#publish(changes.length > 0);
  }

  async #drainPairing(pairing: LinkPairing): Promise<void> {
    const step = pairing.drain(this.now());
    if (step.is === "going") {
      await this.store.savePairing(step.record);
      for (const effect of step.effects) this.#perform(pairing, effect);
      this.#publish(false);
    } else if (step.is === "failed") {
      await this.store.dropPairing(step.erasure);
      await this.#load(step.why === "cancelled" ? null : step.why);
    } else {
      await this.store.savePaired(step.row, step.first, await this.#oldLink());
      await this.#load();
    }
  }

  /** The erase of the link that a new pairing replaces. */
  async #oldLink(): Promise<Erasure | null> {
    const snapshot = await this.store.snapshot();
    if (snapshot === null) return null;
    const old = new Link(snapshot, this.random);
    old.unpair(this.now());
    const forgotten = old.drain().changes.find((change) => change.is === "forgotten");
    return forgotten?.is === "forgotten" ? forgotten.erasure : null;
  }

  #perform(link: Link | LinkPairing, effect: LinkEffect): void {
    switch (effect.is) {
      case "request":
        void this.transport.perform(link.address, effect.request).then((answer) => this.#do(({ link }) => link.handleAnswer(effect.id, answer, this.now())));
        break;
      case "openWatch":
        this.#watches.open(link.address, effect.direction);
        break;
      case "closeWatch":
        this.#watches.close(effect.direction);
        break;
      case "tell":
        break;
    }
  }

  async #erase(): Promise<void> {
    const erasing = this.#erasing;
    if (erasing === null || this.#isErasing || !this.tabs.leads) return;
    const next = erasing.next(this.now());
    if (next === null) return;
    this.#isErasing = true;
    const answer = await this.transport.perform(next.erasure, next.request);
    this.#isErasing = false;
    const gone = erasing.handleAnswer(next.erasure, answer, this.now());
    if (gone !== null) await this.store.forgetErasure(gone).catch(() => {});
    const due = erasing.nextTimer();
    if (due !== null) setTimeout(() => void this.#erase(), Math.max(0, due - this.now()));
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    const due = this.#machine?.link.nextTimer(this.now()) ?? null;
    if (due === null) return;
    this.#timer = setTimeout(() => this.#do(({ link }) => link.handleTimer(this.now())), Math.min(TIMER_MS_MAX, Math.max(0, due - this.now())));
  }

  #publish(hasData: boolean): void {
    const machine = this.#machine;
    const { failure, clockAheadMs } = this.#view;
    const shown: PhoneView = {
      mode: machine?.is ?? "none",
      pairing: machine?.is === "pairing" ? { phase: machine.link.phase, digits: machine.link.digits, desktop: machine.link.desktop } : null,
      failure,
      status: machine?.link.status() ?? null,
      peerName: machine?.is === "link" ? machine.link.row.peerName : "",
      clockAheadMs,
    };
    this.#show(shown);
    this.tabs.tell(shown);
    if (!hasData) return;
    this.ondata();
    this.tabs.tellData();
  }

  #show(view: PhoneView): void {
    this.#view = view;
    this.onview(view);
  }

  #handleClock(relayMs: number): void {
    const aheadMs = this.now() - relayMs;
    // The relay's clock is told in whole seconds, and answers take their time.
    if (Math.abs(aheadMs - this.#view.clockAheadMs) < 10_000) return;
    this.#view = { ...this.#view, clockAheadMs: aheadMs };
  }
}
