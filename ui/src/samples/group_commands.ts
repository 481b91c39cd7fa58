// The sample app's commands of a group: its members, name, relay and end.

import type { GroupView } from "../bindings/GroupView";
import type { HistoryPage } from "../bindings/HistoryPage";
import type { LeavingWarning } from "../bindings/LeavingWarning";
import type { Args, SampleState } from "./app";
import { pageOf, sampleHistory } from "./lists";

const RECENT_MS = 10 * 60_000;

export function groupCommands(app: SampleState) {
  const end = (id: unknown, statusReason: GroupView["statusReason"]): void => app.change(String(id), { status: "notJoined", statusReason });
  return {
    remove_member: ({ group: id, member }: Args) => app.change(String(id), { members: app.group(id).members.filter((one) => one.id !== member) }),
    compare_code: () => ({ code: "27841 03392 71950 46618 90233 15507" }),
    membership_history: ({ group: id, before, limit }: Args): HistoryPage => {
      const { items, next } = pageOf(sampleHistory(app.group(id), Date.now()), before, limit);
      return { entries: items, next };
    },
    leaving_warning: ({ group: id }: Args): LeavingWarning => ({ newcomer: newcomerOf(app.group(id)) }),
    leave_group: ({ group: id }: Args) => end(id, "left"),
    destroy_group: ({ group: id }: Args) => end(id, "destroyed"),
    forget_group: ({ group: id }: Args) => end(id, "left"),
    delete_group_history: ({ group: id }: Args) => app.remove(id),
    rename_group: ({ group: id, name }: Args) => app.change(String(id), { name: String(name) }),
    set_group_relay: ({ group: id }: Args) => app.change(String(id), { relayHost: "relay.example.net", relayIsHere: false }),
  };
}

/** The member that came within the last minutes. */
function newcomerOf({ members }: GroupView): LeavingWarning["newcomer"] {
  const recent = members.find(({ addedAtMs }) => addedAtMs !== null && Date.now() - addedAtMs < RECENT_MS);
  return recent === undefined ? null : { name: recent.name, isMe: false, untilMs: (recent.addedAtMs ?? 0) + RECENT_MS };
}
