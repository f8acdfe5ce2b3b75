import type { en } from './texts/en.ts';

export type TextKey = keyof typeof en;

/** All texts of the pages in one language. */
export type AllTexts = { readonly [Key in TextKey]: string };

/**
 * Texts of the pages, in `src/texts/<language>.ts`. For a text that is absent, the built-in one is
 * used; it is English if the language is not built in.
 *
 * @example
 * export const texts: Texts = { sign_in: 'Log in', forgot_password: 'Lost your password?' };
 */
export type Texts = Partial<AllTexts>;

/** The texts of a project, by language. */
export type OwnTexts = Readonly<Record<string, Texts>>;
