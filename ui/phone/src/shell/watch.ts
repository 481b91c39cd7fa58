// The watch of one direction as a WebSocket (5). A browser can't send a header with it, so the
// token travels as a subprotocol, which the relay never repeats.

import type { WatchEvent } from "../link/answer";
import type { Direction } from "../link/key";
import type { HttpTransport, LinkAddress } from "./http";

const PROTOCOL = "mailbox.watch.v1";

export class Watches {
  readonly #open = new Map<Direction, WebSocket>();

  constructor(
    private readonly transport: HttpTransport,
    private readonly onevent: (event: WatchEvent) => void,
  ) {}

  open({ mailbox, token }: LinkAddress, direction: Direction): void {
    this.close(direction);
    const socket = connect(this.transport.watchUrl(mailbox, direction), token);
    if (socket === null) {
      queueMicrotask(() => this.onevent({ is: "closed", direction, code: 1006, reason: "" }));
      return;
    }
    this.#open.set(direction, socket);
    // What comes from a socket that was given up is nobody's.
    const isCurrent = (): boolean => this.#open.get(direction) === socket;
    socket.onopen = () => isCurrent() && this.onevent({ is: "opened", direction });
    socket.onmessage = ({ data }: MessageEvent<unknown>) => isCurrent() && this.onevent(readFrame(direction, data));
    socket.onclose = ({ code, reason }) => {
      if (!isCurrent()) return;
      this.#open.delete(direction);
      this.onevent({ is: "closed", direction, code, reason });
    };
  }

  close(direction: Direction): void {
    const socket = this.#open.get(direction);
    this.#open.delete(direction);
    socket?.close();
  }

  closeAll(): void {
    for (const direction of [...this.#open.keys()]) this.close(direction);
  }
}

function connect(url: URL, token: string): WebSocket | null {
  try {
    return new WebSocket(url, [PROTOCOL, `bearer.${token}`]);
  } catch {
    return null;
  }
}

/** A frame that can't be read is one of an unknown type. */
export function readFrame(direction: Direction, data: unknown): WatchEvent {
  try {
    const { type, count, created } = JSON.parse(String(data)) as { type?: unknown; count?: unknown; created?: unknown };
    return { is: "frame", direction, type: String(type), count: whole(count), createdMs: whole(created) };
  } catch {
    return { is: "frame", direction, type: "", count: null, createdMs: null };
  }
}

function whole(value: unknown): number | null {
  return Number.isSafeInteger(value) ? (value as number) : null;
}
