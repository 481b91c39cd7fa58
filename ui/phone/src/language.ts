// The language that was chosen for the page; empty for that of the phone. Kept beside the
// link, since it is the person's and not the link's.

const NAME = "sealpost-language";

export function chosenLanguage(): string {
  try {
    return localStorage.getItem(NAME) ?? "";
  } catch {
    return "";
  }
}

export function keepLanguage(language: string): void {
  try {
    localStorage.setItem(NAME, language);
  } catch {
    // Then it holds for this visit.
  }
}
