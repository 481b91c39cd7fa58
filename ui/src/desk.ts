// Hands the one Desk of the window to every component below App.

import { getContext, setContext } from "svelte";
import type { Desk } from "./state.svelte";

const KEY = Symbol("desk");

export function provideDesk(desk: Desk): void {
  setContext(KEY, desk);
}

export function useDesk(): Desk {
  return getContext<Desk>(KEY);
}
