import type { MessageView } from "./MessageView";

export type MessagePage = { messages: Array<MessageView>, more: boolean, };
