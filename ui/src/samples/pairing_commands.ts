// The sample app's commands of the first start and of pairing.

import type { InvitationPreview } from "../bindings/InvitationPreview";
import { type Args, refusal, type SampleState } from "./app";
import codeSvg from "./code.svg?raw";
import { group, joiningGroup, member, relayOn, words } from "./view";

export const LINK = `${relayOn.addresses[0] ?? ""}#tsp1_e06Qm75__kTEZaIgA31gjuNYl9Me-XLwf3SJLLD3PxOgmqX0emdZgC_5VfjcLSoUpcmdI76X-GQSf_k4NFWk8Lu7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7Y2K1ZA`;
const CODE_LIFE_MS = 10 * 60_000;

export function pairingCommands(app: SampleState) {
  return {
    start_group: ({ deviceName }: Args) => {
      const made = group(`group-${app.view.groups.length + 1}`, "", []);
      const relay = { ...relayOn, waitingBlobs: 0, storedBytes: 0, devices: 1 };
      app.set({ deviceName: String(deviceName), screen: "ready", groups: [...app.view.groups, made], relay });
      return { group: made.id };
    },
    read_invitation: ({ text }: Args) => readInvitation(String(text)),
    read_invitation_image: ({ bytesBase64 }: Args) => readImage(String(bytesBase64)),
    join_group: () => {
      app.set({ screen: "ready", groups: [...app.view.groups, joiningGroup(false)] });
      return { group: "joining" };
    },
    words_same: ({ group: id }: Args) => app.change(String(id), { join: { words, confirmed: true, progress: "onRelay" } }),
    words_different: ({ group: id }: Args) => app.remove(id),
    cancel_join: ({ group: id }: Args) => app.remove(id),
    start_pairing: ({ group: id }: Args) => app.change(String(id), { pairingClosed: null, pairing: { link: LINK, qrSvg: codeSvg, expiresAtMs: Date.now() + CODE_LIFE_MS, requests: [] } }),
    cancel_pairing: ({ group: id }: Args) => app.change(String(id), { pairing: null, pairingClosed: "cancelled" }),
    accept_request: (args: Args) => accept(app, args),
    dismiss_request: ({ group: id, request }: Args) => {
      const { pairing } = app.group(id);
      if (pairing === null) throw refusal("pairing-closed");
      app.change(String(id), { pairing: { ...pairing, requests: pairing.requests.filter((one) => one.id !== request) } });
    },
    save_qr_image: () => ({ saved: true }),
  };
}

function accept(app: SampleState, { group: id, request: asked }: Args): void {
  const { pairing, members } = app.group(id);
  const request = pairing?.requests.find((one) => one.id === asked);
  if (request === undefined) throw refusal("request-unknown");
  app.change(String(id), { pairing: null, pairingClosed: "accepted", members: [...members, member(request.id, request.name)] });
}

function readInvitation(raw: string): InvitationPreview {
  const text = raw.replace(/[\s<>"]/g, "");
  if (text === "") throw refusal("invitation-invalid", { part: "empty" });
  if (text.startsWith("tsp1_")) return { relayHost: null, relayText: null, needsRelay: true };
  if (!text.toLowerCase().startsWith("trueseal://")) throw refusal("invitation-invalid", { part: "scheme" });
  const [address = "", token] = text.split("#");
  if (token === undefined || !token.startsWith("tsp1_")) throw refusal("invitation-invalid", { part: "token" });
  const host = /@([^:/?]+)/.exec(address)?.[1];
  if (host === undefined) throw refusal("invitation-invalid", { part: "host" });
  return { relayHost: host, relayText: address, needsRelay: false, relayWords: "38ab 664b d86f 77d7" };
}

function readImage(bytesBase64: string): { text: string } {
  if (bytesBase64.length < 200) throw refusal("image-holds-no-code");
  return { text: LINK };
}
