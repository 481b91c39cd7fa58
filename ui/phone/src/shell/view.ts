// What the tab that leads tells the screens of all tabs. Owns only shapes.

import type { PairingPhase, ToldFailure } from "../link/pairing";
import type { LinkStatus } from "../link/step";

/** What is shown of the link, besides what is stored. */
export interface PhoneView {
  mode: "none" | "pairing" | "link";
  pairing: { phase: PairingPhase; digits: string | null; desktop: string } | null;
  /** Why the last pairing came to nothing. */
  failure: ToldFailure | null;
  status: LinkStatus | null;
  peerName: string;
  /** By how much this phone's clock is ahead of the relay's. */
  clockAheadMs: number;
}

export const EMPTY_VIEW: PhoneView = { mode: "none", pairing: null, failure: null, status: null, peerName: "", clockAheadMs: 0 };
