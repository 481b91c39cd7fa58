// What a delivery issue says and what can be done about it, by its stable code.

import type { IssueView } from "./bindings/IssueView";
import { formatMoment, hasText, t } from "./text";

/** The key of an issue's sentences: `sendFailed.tooLarge` is `issue-send-failed-too-large`. */
export function issueKey(code: string): string {
  const key = `issue-${code.replaceAll(".", "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return hasText(key) ? key : "issues-unknown";
}

export interface IssueText {
  what: string;
  why: string;
  action: string;
}

/** An issue in three sentences: what happened, why, what to do now. */
export function issueText({ code, args }: Pick<IssueView, "code" | "args">): IssueText {
  const key = issueKey(code);
  return { what: t(key, args), why: t(`${key}.why`, args), action: t(`${key}.action`, args) };
}

/** The span from which messages may be missing, where the issue names one. */
export function missingText({ args }: Pick<IssueView, "args">): string | null {
  const { missingFrom: from, missingUntil: until } = args;
  if (typeof from !== "number" || typeof until !== "number") return null;
  return t("issues-missing", { from: formatMoment(from), until: formatMoment(until) });
}
