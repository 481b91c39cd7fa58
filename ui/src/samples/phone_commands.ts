// The sample app's commands about phones, and what a phone does to it.

import type { PhonePairingView } from "../bindings/PhonePairingView";
import type { PhoneSharingView } from "../bindings/PhoneSharingView";
import type { PhonesView } from "../bindings/PhonesView";
import type { PhoneView } from "../bindings/PhoneView";
import { type Args, refusal, type SampleState } from "./app";
import codeSvg from "./code.svg?raw";

const DAY_MS = 86_400_000;
const CODE_LIFE_MS = 5 * 60_000;
const LINK = "http://192.168.178.24:24817/p#v=1&i=q6urq6urq6urq6urq6urqw&k=AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE&x=1795000300&n=Laptop";

export const noPhones: PhonesView = { on: false, door: "off", failure: null, port: 0, host: "192.168.178.24", pairing: null, pairingClosed: null, phones: [] };

function phone(id: string, name: string, groups: string[], change: Partial<PhoneView> = {}): PhoneView {
  return { id, name, state: "linked", sinceMs: null, lastContactMs: Date.now() - 4 * 60_000, waiting: 0, trouble: null, addressGone: null, sharing: { groups, later: false }, ...change };
}

const open: PhonesView = { ...noPhones, on: true, door: "open", port: 24_817 };

function pairing(change: Partial<PhonePairingView> = {}): PhonePairingView {
  return { step: "code", link: LINK, qrSvg: codeSvg, expiresAtMs: Date.now() + CODE_LIFE_MS, name: null, digits: null, sharing: { groups: ["devices", "family"], later: true }, insteadOf: null, ...change };
}

/** The phones of a scene such as `phones:lost`. */
export function samplePhones(scene: string | undefined): PhonesView {
  const moto = phone("moto", "Moto g84", ["devices", "family", "many"]);
  const contacted = { link: null, qrSvg: null, name: "Moto g84" };
  switch (scene) {
    case undefined:
      return open;
    case "list":
      return {
        ...open,
        phones: [
          moto,
          phone("fair", "Grandmother’s kitchen phone with the cracked corner and blue case", [], { lastContactMs: null, waiting: 3 }),
          phone("pixel", "小伟的手机", ["family"], { lastContactMs: Date.now() - 9 * DAY_MS, state: "unconfirmed", sinceMs: Date.now() - 8 * DAY_MS, trouble: "full", waiting: 32 }),
          phone("old", "Old phone", ["family"], { lastContactMs: Date.now() - 40 * DAY_MS, state: "lost" }),
          phone("moved", "Tablet", ["devices"], { addressGone: "192.168.178.23:24817" }),
          phone("gone", "Nokia", ["devices"], { state: "unpairedThere" }),
        ],
      };
    case "alone":
      return { ...open, phones: [phone("moto", "Moto g84", ["devices", "alone"])] };
    case "cut-short":
      return { ...open, phones: [phone("moto", "Moto g84", ["devices"], { lastContactMs: null, state: "unconfirmed", sinceMs: Date.now() - 60_000 })] };
    case "relay-off":
      return { ...open, door: "relayOff", phones: [moto] };
    case "off":
      return { ...open, on: false, door: "off", phones: [moto] };
    case "port":
      return { ...open, door: "failed", failure: { code: "phone-port-in-use", args: { port: 24_817 } }, phones: [moto] };
    case "unusable":
      return { ...open, failure: { code: "phones-unusable", args: { kind: "keyMissing" } } };
    case "no-network":
      return { ...open, host: null };
    case "code":
      return { ...open, pairing: pairing() };
    case "contacted":
      return { ...open, pairing: pairing({ ...contacted, step: "contacted" }) };
    case "compare":
      return { ...open, pairing: pairing({ ...contacted, step: "compare", digits: "402917" }), phones: [moto] };
    case "finishing":
      return { ...open, pairing: pairing({ ...contacted, step: "finishing" }) };
    default:
      return open;
  }
}

export function phoneCommands(app: SampleState) {
  const change = (to: Partial<PhonesView>): void => app.set({ phones: { ...app.view.phones, ...to } });
  const changePhone = (id: unknown, to: Partial<PhoneView>): void => {
    if (!app.view.phones.phones.some((one) => one.id === id)) throw refusal("phone-unknown");
    change({ phones: app.view.phones.phones.map((one) => (one.id === id ? { ...one, ...to } : one)) });
  };
  const pairingNow = (): PhonePairingView => {
    if (app.view.phones.pairing === null) throw refusal("phone-pairing-over");
    return app.view.phones.pairing;
  };
  return {
    start_phone_pairing: ({ insteadOf }: Args) => {
      if (app.view.relay.state !== "on") throw refusal("phones-need-relay");
      change({ on: true, door: "open", port: 24_817, pairingClosed: null, pairing: pairing({ insteadOf: insteadOf === null ? null : String(insteadOf) }) });
    },
    cancel_phone_pairing: () => change({ pairing: null, pairingClosed: "cancelled" }),
    confirm_phone: () => {
      const { name, sharing } = pairingNow();
      change({ pairing: null, pairingClosed: "paired", phones: [...app.view.phones.phones, { ...phone("new", name ?? "", sharing.groups), sharing }] });
    },
    decline_phone: () => {
      pairingNow();
      change({ pairing: null, pairingClosed: "declined" });
    },
    rename_phone: ({ phone: id, name }: Args) => changePhone(id, { name: String(name) }),
    unpair_phone: ({ phone: id }: Args) => change({ phones: app.view.phones.phones.filter((one) => one.id !== id) }),
    set_phone_sharing: ({ phone: id, sharing }: Args) => {
      const chosen = sharing as PhoneSharingView;
      if (id === null) change({ pairing: { ...pairingNow(), sharing: chosen } });
      else changePhone(id, { sharing: chosen });
    },
    set_phones_on: ({ on }: Args) => change({ on: on === true, door: on === true ? "open" : "off" }),
    try_phone_door_again: () => {
      throw app.view.phones.failure ?? refusal("internal");
    },
    choose_phone_port: () => change({ port: 25_001, door: "open", failure: null }),
  };
}
