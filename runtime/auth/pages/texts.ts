import type { en } from './texts/en.ts';

export type TextKey = keyof typeof en;

/** All words of the pages in one language. */
export type AllTexts = { readonly [Key in TextKey]: string };

/**
 * Words of the pages, in `src/texts/<language>.ts`. A word that is absent is the built-in one, in
 * English for a language that is not built in.
 *
 * @example
 * export const texts: Texts = { sign_in: 'Log in', forgot_password: 'Lost your password?' };
 */
export type Texts = Partial<AllTexts>;

/** The words of a project, by language. */
export type OwnTexts = Readonly<Record<string, Texts>>;
