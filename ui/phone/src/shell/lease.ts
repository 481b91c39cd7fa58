// Which of several tabs leads (9.3): the one that holds a lease in localStorage. Correctness
// never rests on it, only that not every tab asks the relay for the same.

/** How long a lease holds without being renewed. */
export const LEASE_MS = 10_000;
/** How often the leader renews it. */
export const RENEW_MS = 3_000;

const NAME = "sealpost-lead";

export interface LeaseBox {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

export class Lease {
  /** What this tab has left in the box; null before it held the lease. */
  #left: string | null = null;
  /** Whether nobody else can have held the lease since this tab last took it. */
  isUnbroken = false;

  constructor(
    private readonly box: LeaseBox | null,
    private readonly tab: string,
  ) {}

  /** Takes or renews the lease, unless another tab holds it. */
  take(nowMs: number): boolean {
    const holder = this.#holder(nowMs);
    this.isUnbroken = this.#left !== null && this.#left === this.#text();
    this.#left = null;
    if (holder !== null && holder !== this.tab) return false;
    try {
      this.box?.setItem(NAME, `${nowMs + LEASE_MS} ${this.tab}`);
    } catch {
      // A storage that takes nothing leaves each tab its own leader.
    }
    this.#left = this.#text();
    return true;
  }

  release(nowMs: number): void {
    if (this.#holder(nowMs) === this.tab) this.box?.removeItem(NAME);
  }

  #text(): string {
    return this.box?.getItem(NAME) ?? "";
  }

  #holder(nowMs: number): string | null {
    const [until = "", tab = ""] = this.#text().split(" ");
    const left = Number(until) - nowMs;
    // A clock that went back must not keep everybody out.
    return tab !== "" && left > 0 && left <= LEASE_MS ? tab : null;
  }
}
