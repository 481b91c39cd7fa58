// The words of the window and of the page for phones. Owns the choice of the catalogue and
// the formats of dates and numbers; every text stands in locales/*.ftl, which the Rust side
// reads too.

import { FluentBundle, type FluentVariable } from "@fluent/bundle";
import type { AppError } from "./bindings/AppError";
import { catalogues } from "./catalogues";
import { accented, mirrored } from "./pseudo";

export type TextArgs = Record<string, FluentVariable>;

const FALLBACK = "en";
/** Made-up languages, for tests; a build without samples doesn't know them. */
const pseudoLanguages: Record<string, (text: string) => string> = __SAMPLES__ ? { pseudo: accented, "pseudo-rtl": mirrored } : {};
/** Fluent keeps the direction of what it inserts apart; numbers need no such marks. */
const ISOLATED_NUMBER = /\u2068([\d.,\u00a0\u202f]+)\u2069/g;

let language = FALLBACK;
let bundle = readCatalogue(FALLBACK);
const fallbackBundle = bundle;
let regional = FALLBACK;

/** Chooses the catalogue for a language tag such as "de-AT"; unknown ones get English. */
export function setLanguage(tag: string): void {
  const wanted = tag in pseudoLanguages ? tag : (tag.toLowerCase().split(/[-_]/)[0] ?? FALLBACK);
  language = wanted in catalogues || wanted in pseudoLanguages ? wanted : FALLBACK;
  bundle = language === FALLBACK ? fallbackBundle : readCatalogue(language);
  regional = regionOf(language in pseudoLanguages ? FALLBACK : language);
}

/** The direction of the language that is shown. */
export function textDirection(): "ltr" | "rtl" {
  return language === "pseudo-rtl" ? "rtl" : "ltr";
}

/** The language that is shown, as in `locales/`. */
export function currentLanguage(): string {
  return language;
}

/** The language for the document's `lang`; a made-up one goes by one that looks like it. */
export function documentLanguage(): string {
  if (language in pseudoLanguages) return textDirection() === "rtl" ? "ar" : FALLBACK;
  return language;
}

/** A text by its key, or `key.attribute`. A missing one shows its key. */
export function t(key: string, args?: TextArgs): string {
  return find(bundle, key, args) ?? find(fallbackBundle, key, args) ?? missing(key);
}

/** Whether there is a text under this key. */
export function hasText(key: string): boolean {
  return find(fallbackBundle, key) !== null;
}

export interface ErrorText {
  what: string;
  why: string | null;
  action: string | null;
  code: string;
}

/** An error in three sentences: what happened, why, and what to do now. */
export function errorText(error: AppError): ErrorText {
  const key = errorKey(error);
  const part = (name: string): string | null =>
    hasText(`${key}.${name}`) ? t(`${key}.${name}`, error.args) : null;
  return { what: t(key, error.args), why: part("why"), action: part("action"), code: key.slice(6) };
}

/** The most exact key there is: the code with the part or kind it names, or the code alone. */
export function errorKey(error: AppError): string {
  const base = `error-${error.code}`;
  for (const name of ["part", "kind"]) {
    const detail = error.args[name];
    if (typeof detail !== "string") continue;
    const key = `${base}-${kebab(detail)}`;
    if (hasText(key)) return key;
  }
  return hasText(base) ? base : "error-internal";
}

/** A day before the last moment that a date of this language can name, in any time zone. */
const CALENDAR_END_MS = 8.64e15 - 86_400_000;

/** A time that others wrote may be any number; one beyond the calendar is its end. */
function inCalendar(ms: number): number {
  return Math.min(Math.max(ms, -CALENDAR_END_MS), CALENDAR_END_MS);
}

/** A time as the attribute of an element that shows it. */
export function isoTime(ms: number): string {
  return new Date(inCalendar(ms)).toISOString();
}

export function formatTime(ms: number): string {
  return timeFormat()(ms);
}

/** What writes the time of a day, for many at once; it stays in the time zone of now. */
export function timeFormat(): (ms: number) => string {
  const format = new Intl.DateTimeFormat(regional, { timeStyle: "short" });
  return (ms) => format.format(inCalendar(ms));
}

export function formatDate(ms: number): string {
  return new Intl.DateTimeFormat(regional, { day: "numeric", month: "long" }).format(inCalendar(ms));
}

/** The date with its year, and the time, as short as they can be. */
export function formatShort(ms: number): string {
  return new Intl.DateTimeFormat(regional, { dateStyle: "medium", timeStyle: "short" }).format(inCalendar(ms));
}

/** How long ago or ahead, in the largest unit that fits. */
export function formatAgo(ms: number, nowMs: number): string {
  const seconds = (ms - nowMs) / 1000;
  const units: [Intl.RelativeTimeFormatUnit, number][] = [["day", 86_400], ["hour", 3600], ["minute", 60]];
  const [unit, length] = units.find((one) => Math.abs(seconds) >= one[1]) ?? ["minute", 60];
  return new Intl.RelativeTimeFormat(regional, { numeric: "auto" }).format(Math.trunc(seconds / length), unit);
}

/** A span of time in words, such as "2 hours". */
export function formatSpan(ms: number): string {
  const units = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1000]] as const;
  const [unit, length] = units.find((one) => Math.abs(ms) >= one[1]) ?? units[3];
  return new Intl.NumberFormat(regional, { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 0 }).format(Math.round(Math.abs(ms) / length));
}

export function formatNumber(number: number): string {
  return new Intl.NumberFormat(regional).format(number);
}

export function formatMoment(ms: number): string {
  return new Intl.DateTimeFormat(regional, { dateStyle: "long", timeStyle: "short" }).format(inCalendar(ms));
}

/** "Today", "Yesterday", or the date, with the year once it is another one. */
export function formatDay(ms: number, nowMs: number): string {
  const daysAgo = Math.round((startOfDay(nowMs) - startOfDay(ms)) / 86_400_000);
  if (daysAgo === 0) return t("day-today");
  if (daysAgo === 1) return t("day-yesterday");
  const sameYear = new Date(inCalendar(ms)).getFullYear() === new Date(nowMs).getFullYear();
  return new Intl.DateTimeFormat(regional, {
    weekday: "long",
    day: "numeric",
    month: "long",
    ...(sameYear ? {} : { year: "numeric" }),
  }).format(inCalendar(ms));
}

export function formatBytes(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return new Intl.NumberFormat(regional, {
    style: "unit",
    unit: units[step] ?? "byte",
    unitDisplay: step === 0 ? "long" : "short",
    maximumFractionDigits: step === 0 ? 0 : 1,
  }).format(bytes / 1000 ** step);
}

/** A number that tells a calendar day of this computer's time zone from the next. */
export function startOfDay(ms: number): number {
  return new Date(inCalendar(ms)).setHours(0, 0, 0, 0);
}

function kebab(word: string): string {
  return word.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function readCatalogue(tag: string): FluentBundle {
  const transform = pseudoLanguages[tag];
  const locales = transform === undefined ? [regionOf(tag), tag] : [FALLBACK];
  const made = new FluentBundle(locales, transform === undefined ? {} : { transform });
  const resource = catalogues[transform === undefined ? tag : FALLBACK];
  for (const error of resource === undefined ? [] : made.addResource(resource)) console.error(error.message);
  return made;
}

/** The system's own region where it speaks the language, for 14:32 against 2:32 PM. */
function regionOf(tag: string): string {
  const tags = typeof navigator === "undefined" ? [] : navigator.languages;
  return tags.find((one) => one.toLowerCase().split("-")[0] === tag) ?? tag;
}

function find(from: FluentBundle, key: string, args?: TextArgs): string | null {
  const [id = "", attribute] = key.split(".");
  const message = from.getMessage(id);
  const pattern = attribute === undefined ? message?.value : message?.attributes[attribute];
  if (pattern === undefined || pattern === null) return null;
  const errors: Error[] = [];
  const text = from.formatPattern(pattern, args ?? null, errors);
  if (errors.length > 0 && args !== undefined) console.error(key, errors[0]?.message);
  return text.replace(ISOLATED_NUMBER, "$1");
}

function missing(key: string): string {
  console.error(`no text for ${key}`);
  return key;
}
