// Several tabs of one phone: one of them leads, the others show what it tells and ask it to
// act. Owns the channel between them and the moments at which the lead changes.

import { Lease, type LeaseBox, RENEW_MS } from "./lease";
import type { PhoneView } from "./view";

/** What a person does, in whatever tab. */
export type TabAct = { is: "reload" | "queued" | "retry" | "cancel" | "unpair" | "look" | "read" } | { is: "digits"; isSame: boolean };

type Word = { is: "act"; act: TabAct } | { is: "view"; view: PhoneView } | { is: "data" } | { is: "wanted" } | { is: "free" };

const CHANNEL = "sealpost-phone";

export class Tabs {
  leads = false;
  onlead: (leads: boolean) => void = () => {};
  onview: (view: PhoneView) => void = () => {};
  ondata: () => void = () => {};
  onact: (act: TabAct) => void = () => {};
  readonly #lease: Lease;
  #isOut = false;
  #leads = 0;
  readonly #channel: BroadcastChannel | null;

  constructor(
    private readonly tab: string,
    box: LeaseBox | null,
    channel: BroadcastChannel | null = openChannel(),
  ) {
    this.#lease = new Lease(box, tab);
    this.#channel = channel;
    if (channel !== null) channel.onmessage = ({ data }: MessageEvent<Word>) => this.#hear(data);
  }

  /** Begins to lead, or to wait for it. */
  start(): void {
    this.settle();
    setInterval(() => this.settle(), RENEW_MS);
    document.addEventListener("visibilitychange", () => this.#handleVisible());
    addEventListener("pagehide", () => this.#resign());
    addEventListener("pageshow", () => this.settle());
    if (!this.leads) this.#handleVisible();
  }

  ask(act: TabAct): void {
    this.#say({ is: "act", act });
  }

  tell(view: PhoneView): void {
    this.#say({ is: "view", view });
  }

  /** A name for a lead that begins, which no other one has. */
  nextLead(): string {
    this.#leads += 1;
    return `${this.tab} ${this.#leads}`;
  }

  tellData(): void {
    this.#say({ is: "data" });
  }

  #hear(word: Word): void {
    if (word.is === "view" && !this.leads) this.onview(word.view);
    if (word.is === "data") this.ondata();
    if (word.is === "act" && this.leads) this.onact(word.act);
    // A tab in sight is served before one that nobody sees.
    if (word.is === "wanted" && this.leads && document.visibilityState === "hidden") this.#resign();
    if (word.is === "free") this.settle();
  }

  #handleVisible(): void {
    if (document.visibilityState !== "visible" || this.leads) return;
    this.#say({ is: "wanted" });
    this.#say({ is: "act", act: { is: "look" } });
    this.settle();
  }

  /** Leads or doesn't, as the lease says. A tab that stood still while others may have led has
   *  to begin anew: what it knows is old. */
  settle(): void {
    if (this.#isOut) return;
    const leads = this.#lease.take(Date.now());
    if (leads === this.leads && (!leads || this.#lease.isUnbroken)) return;
    this.leads = leads;
    this.onlead(leads);
  }

  /** Leaves the lead to others, for good: this tab can't store. */
  leave(): void {
    this.#isOut = true;
    this.#resign();
  }

  #resign(): void {
    if (!this.leads) return;
    this.leads = false;
    this.#lease.release(Date.now());
    this.onlead(false);
    this.#say({ is: "free" });
  }

  #say(word: Word): void {
    this.#channel?.postMessage(word);
  }
}

function openChannel(): BroadcastChannel | null {
  return typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(CHANNEL);
}
