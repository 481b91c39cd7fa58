import type { DeliveryView } from "./DeliveryView";

export type MessageView = { position: number, id: string, own: boolean, authorId: string, authorName: string, text: string | null, sentAtMs: number, storedAtMs: number, delivery: DeliveryView | null, };
