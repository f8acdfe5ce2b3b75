import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { es } from './texts/es.ts';
import { fr } from './texts/fr.ts';
import type { AllTexts, OwnTexts } from './texts.ts';

const BUILT_IN: Readonly<Record<string, AllTexts>> = { en, de, fr, es };

const made = new WeakMap<OwnTexts, Map<string, AllTexts>>();

/** All texts in a language: the project's own, else the built-in ones, else the English ones. */
export function allTexts(locale: string, own: OwnTexts): AllTexts {
  const known = made.get(own) ?? new Map<string, AllTexts>();
  made.set(own, known);
  const texts = known.get(locale) ?? { ...(BUILT_IN[locale] ?? en), ...own[locale] };
  known.set(locale, texts);
  return texts;
}
